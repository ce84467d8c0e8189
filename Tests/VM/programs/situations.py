#!/usr/bin/python3
"""Has the programs of the catalogue capture in six situations: what each gets, what the person sees, what the history says.

situations.py NODE WIDTHxHEIGHT SCOPE [PROGRAM...] -- COMMAND...

COMMAND is what starts a program as alice, SCOPE the control group of her session. Without a PROGRAM all are run.

Prints a line for each fact as it is found: `ok` or `not ok`, the fact, and why it does not hold, with tabs between them.
At its end come the lines of the table, after `table` and a tab."""
import sys, threading, traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from catalogue import PROGRAMS, WHAT_IT_SAYS, rounds, second
from machine import Machine, Run, wait_until
from table import brief, got, outcome, printed, words_on

printing = threading.Lock()


def say(*fields):
    with printing:
        print(*fields, sep="\t", flush=True)


class Cell:
    """A program in a situation."""

    def __init__(self, machine, program, situation):
        self.machine, self.program, self.situation = machine, program, situation
        self.title = f"Allow “{program.title}” to use the {program.service}?"
        self.before, self.asked_before, self.row = {}, 0, None

    def begin(self, status):
        """With an answer, or without one; the history and the questions count from here."""
        self.machine.answer(self.program, status)
        self.before, self.asked_before = self.machine.history(self.program), len(self.machine.questions)

    def it(self, fact, holds, why=""):
        text = "" if holds else repr(why() if callable(why) else why)
        say("ok" if holds else "not ok", f"{self.program.name}, {self.situation}: {fact}", text)

    def run(self, name=""):
        return Run(self.machine, self.program, name)

    def questions(self):
        return [each for each in self.machine.questions[self.asked_before:] if each["title"] == self.title]

    def replies(self, run, word):
        """The person reads a question that has come, and answers it."""
        found = wait_until(self.questions)
        words = [f"It gives no reason for the {self.program.service}.", WHAT_IT_SAYS[self.program.bridge]]
        self.it("the person is asked, in our words, and the program waits", len(found) == 1 and not run.has_any() and
                found[0]["body"].split("\n")[:2] == words and found[0]["subtitle"].startswith("Not verified: "),
                lambda: (run.amount, found, run.said[-1500:]))
        if found:
            self.machine.reply(found[0], word)

    def asked(self, count):
        found = self.questions()
        self.it("the person was asked once" if count else "the person is not asked", len(found) == count, found)

    def new(self, kind):
        now = self.machine.history(self.program)
        return sorted((entry for key, entry in now.items() if key not in self.before and entry["kind"] == kind),
                      key=lambda entry: entry.get("ended", entry["began"]))

    def history(self, decisions, outcomes):
        """What it has to say since the beginning: decisions, and how uses ended."""
        wait_until(lambda: all("outcome" in use for use in self.new("use")) and len(self.new("use")) >= len(outcomes), 20)
        found = [outcome(each) for each in self.new("decision")], [use.get("outcome") for use in self.new("use")]
        self.it(f"the history has {', '.join(decisions + [f'a use that was {each}' for each in outcomes]) or 'nothing'}",
                found == (decisions, outcomes), lambda: [found, *map(brief, self.machine.history(self.program).values())][:8])
        return "; ".join(", ".join(each) for each in found if each)

    def captures(self, run, fact="it captures"):
        self.it(fact, run.captures() and run.shows(), lambda: f"{run.amount} {run.process.poll()} {run.said[-1500:]}")

    def refused(self, run, word):
        """It gets nothing, and is told why. PulseAudio's clients have words of their own for that, which are none of ours."""
        is_over = run.is_refused()
        is_told = bool(run.said.strip()) if self.program.bridge == "pulse" else word in words_on(run)
        self.it(f"it gets nothing, and says {'that' if self.program.bridge == 'pulse' else f'“{word}”'}",
                not run.has_any() and is_told and (is_over or self.program.waits),
                lambda: f"{run.amount} {run.process.poll()} {run.said[-1500:]}")
        run.interrupt()
        end = f"exit {run.status}" if is_over else "waits"
        return f"{got(run)}, {end}" if run.amount else end


def never_asked(cell):
    cell.begin(None)
    run = cell.run()
    cell.replies(run, "yes")
    cell.captures(run)
    run.interrupt()
    cell.asked(1)
    cell.row = got(run), "asked: yes", cell.history(["yes (answer)"], ["stopped"])


def allowed(cell):
    cell.begin("authorized")
    run = cell.run()
    cell.captures(run)
    run.interrupt()
    cell.asked(0)
    cell.row = got(run), "not asked", cell.history([], ["stopped"])


def denied(cell):
    """By the person, and then without a question."""
    cell.begin(None)
    run = cell.run()
    cell.replies(run, "no")
    first = cell.refused(run, "denied")
    run = cell.run()
    again = cell.refused(run, "denied")
    cell.asked(1)
    # One of them may be told by a moment of silence.
    most = max(first, again, key=len)
    cell.row = (most if "silence" in most else f"nothing, {most}", f"asked: no; {words_on(run)}",
                cell.history(["no (answer)", "no (stored)"], []))


def withdrawn(cell):
    cell.begin("authorized")
    run = cell.run()
    cell.captures(run)
    cell.machine.withdraw(cell.program)
    cell.it("it ends", wait_until(run.ended), lambda: f"{run.amount} {run.said[-1500:]}")
    run.interrupt()
    cell.asked(0)
    cell.row = f"{got(run)}, exit {run.status}", words_on(run), cell.history([], ["revoked"])


def switched_off(cells):
    """The switch is one for all: all capture, it is turned, and all start again."""
    machine = cells[0].machine

    def before(cell):
        cell.begin("authorized")
        run = cell.run()
        cell.captures(run)
        return run

    def meanwhile(cell, run):
        # A client of PipeWire waits for the switch; a device of V4L2 or ALSA has failed.
        waits = cell.program.bridge in ("pipewire", "pulse")
        cell.it("it gets nothing more" if waits else "it ends", run.is_quiet() if waits else wait_until(run.ended),
                lambda: f"{run.amount} {run.said[-1500:]}")
        again = cell.run("-again")
        return waits, cell.refused(again, "switched off"), words_on(again)

    def after(cell, run, found):
        waits, again, said = found
        if waits:
            cell.it("it goes on when the switch is on", run.goes_on(), lambda: f"{run.amount} {run.said[-1500:]}")
        run.interrupt()
        cell.asked(0)
        end = "goes on" if waits else f"exit {run.status}"
        cell.row = (f"{got(run)}, {end}; then {again}", said,
                    cell.history(["off"], ["interrupted", "stopped"] if waits else ["interrupted"]))

    runs = each_of(cells, before)
    for service in ["camera", "microphone"]:
        machine.control("switch", service, "off")
    found = each_of(cells, meanwhile, runs)
    for service in ["camera", "microphone"]:
        machine.control("switch", service, "on")
    each_of(cells, after, runs, found)


def beside(cell):
    """The second one captures, and this one gets nothing; then the other way round."""
    other = second(cell.program)
    cell.machine.answer(other, "authorized")
    cell.begin("denied")
    first = Run(cell.machine, other, "-second")
    cell.captures(first, "the second one captures")
    denial = cell.refused(cell.run(), "denied")
    cell.it("the second one goes on", first.goes_on(), lambda: first.said)
    cell.machine.answer(cell.program, "authorized")
    run = cell.run()
    cell.captures(run)
    cell.machine.withdraw(other)
    cell.it("the second one ends, and this one goes on", wait_until(first.ended) and run.goes_on(),
            lambda: f"{run.said}\n{first.said}")
    first.interrupt()
    run.interrupt()
    cell.asked(0)
    cell.row = f"denied {denial}; allowed {got(run)}", f"other: {words_on(first)}", cell.history(["no (stored)"], ["stopped"])


def each_of(cells, do, *more):
    """For all of them at the same time."""
    def guarded(cell, *rest):
        try:
            return do(cell, *rest)
        except Exception:
            cell.it("it comes to its end", False, traceback.format_exc())

    with ThreadPoolExecutor(len(cells)) as pool:
        return list(pool.map(guarded, cells, *more))


SITUATIONS = {"never asked": never_asked, "allowed": allowed, "denied": denied, "withdrawn": withdrawn,
              "switched off": switched_off, "beside": beside}


def main():
    rest = sys.argv.index("--")
    node, size, scope, *names = sys.argv[1:rest]
    programs = [each for each in PROGRAMS if not names or each.name in names]
    rows = []
    with Machine(node, [int(part) for part in size.split("x")], scope, sys.argv[rest + 1:]) as machine:
        for group in rounds(programs):
            for situation, do in SITUATIONS.items():
                cells = [Cell(machine, each, situation) for each in group]
                if do is switched_off:
                    switched_off(cells)
                else:
                    each_of(cells, do)
                rows += [(each.program.name, situation, *each.row) for each in cells if each.row]
    order = [each.name for each in PROGRAMS], list(SITUATIONS)
    for line in printed(sorted(rows, key=lambda row: (order[0].index(row[0]), order[1].index(row[1])))):
        say("table", line)


if __name__ == "__main__":
    main()
