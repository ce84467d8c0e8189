"""Programs that want the media library, and the person who is asked about them on the terminal of `capturectl agent`."""
import json, os, re, select, subprocess
from pathlib import Path

from terminal import Terminal

# The interpreter that has what the programs import. A copy of it is a program of its own.
INTERPRETER = Path("/usr/bin/python3").resolve()
REASONS = ("X-Capture-LibraryUsageDescription=Looks\nX-Capture-LibraryAddUsageDescription=Adds\n"
           "X-Capture-PreventAutomaticLimitedLibraryAlert=true\n")
SERVICES = {"add-only": "library-add", "read-write": "library-read-write"}
QUESTIONS = {"allow adding to the media library": "add-only", "allow reading and changing the media library": "read-write"}
LIMIT = 240  # Seconds that anything may take.


class Program:
    """A program of its own, which nothing is known of, with reasons to want the library."""

    def __init__(self, daemon, name, executable=INTERPRETER):
        self.daemon, self.path = daemon, daemon.folder / "programs" / name
        self.id, self.environment = f"exe:{self.path}", {**daemon.environment, "PYTHONHOME": "/usr"}
        self.path.parent.mkdir(exist_ok=True)
        # Not here: a child that is started meanwhile would hold it open for writing, and nothing could run it.
        subprocess.run(["cp", executable, self.path], check=True, timeout=LIMIT)
        daemon.give_reason(name, self.id, REASONS)

    def start(self, *arguments, **options):
        """Without a terminal."""
        return subprocess.Popen([self.path, *map(str, arguments)], env=self.environment, start_new_session=True, **options)

    def run(self, person, keys, *arguments, **options):
        """Lets a person answer with keys what they are asked meanwhile: the questions, its exit status and what it said."""
        said = self.path.with_suffix(".said")
        with open(said, "wb") as output:
            process = self.start(*arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **options)
        self.waits = os.pidfd_open(process.pid)
        try:
            asked = person.answer(self, keys)
        except AssertionError as error:
            process.kill()
            raise AssertionError(f"{self.path.name}: {error}\n{said.read_text(errors='replace')}") from error
        finally:
            os.close(self.waits)
            status = process.wait()
        return asked, status, said.read_text(errors="replace")


class Told(Program):
    """One that does what it is told. As a context manager: afterwards it is gone, its file too."""

    def __enter__(self):
        self.process = self.start(Path(__file__).with_name("program.py"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  bufsize=0)
        self.waits = self.process.stdout
        return self

    def __exit__(self, *_):
        # It may wait for an answer that never came.
        self.process.terminate()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.path.unlink()

    def reply(self):
        """The next line that it says."""
        assert select.select([self.waits], [], [], LIMIT)[0], f"{self.path.name} says nothing"
        line = self.waits.readline()
        assert line, f"{self.path.name} ended"
        return json.loads(line)

    def do(self, *command):
        """Tells it what to do: the first line that it says then."""
        self.process.stdin.write((json.dumps(command) + "\n").encode())
        return self.reply()


class Script(Program):
    """One that runs a text."""

    def run(self, person, keys, text, *arguments):
        return super().run(person, keys, "-c", text, *arguments)


class Person:
    """Answers what is asked on the terminal of an agent. What is to be answered is a key for each question; for a list of
    assets, which is the question `pick`, it is what makes lines to type of what is shown."""

    # A question that takes a key, or the line of a list that takes lines, or what can be done with the camera.
    QUESTION = re.compile(r"^  (.+)\? \[[^]]+\] |^(pick)> |^Enter (.+?), .*q declines\.", re.M)
    NO_ANSWER = "\x04"

    def __init__(self, daemon):
        self.terminal = Terminal([daemon.programs / "capturectl", "agent", "--pictures", "none"],
                                 {**daemon.environment, "TERM": "dumb"})
        self.terminal.until("asking for consent here")
        self.asked = 0

    def question(self, program=None):
        """What is asked next; nothing where a program goes on before anything is."""
        while not (found := self.QUESTION.search(self.terminal.shown, self.terminal.seen)):
            if not self.terminal.more(program and program.waits, LIMIT):
                return None
        self.shown, self.terminal.seen = self.terminal.shown[self.terminal.seen:found.end()], found.end()
        self.asked += 1
        return QUESTIONS.get(found[1], found[1] or found[2] or found[3])

    def press(self, question, keys):
        """Answers a question, or closes it where there is no key for it: what was asked, with the list that may follow."""
        key = keys.get(question, self.NO_ANSWER)
        if question == "pick" and question in keys:
            self.lines(key(self.shown))
        else:
            self.terminal.type(key)
        # The list comes at once, whether the program waits for it or not.
        return [question] + (self.press(self.question(), {"pick": nothing, **keys}) if key == "s" else [])

    def lines(self, lines):
        """Types them, each when the list takes one."""
        for number, line in enumerate(lines):
            if number:
                self.question()
            self.terminal.type(line + "\n")

    def answer(self, program, keys):
        """Answers what is asked until the program goes on: the questions."""
        asked = []
        while question := self.question(program):
            asked += self.press(question, keys)
        return asked

    def leave(self):
        """Ends the agent: its exit status, and how many questions it put in all."""
        self.terminal.type("\x03")
        status, shown = self.terminal.end(LIMIT)
        return status, len(self.QUESTION.findall(shown))


def nothing(_):
    """Takes nothing of a list, and is done."""
    return ["d"]


def named(*names):
    """Takes the assets of these names out of a list."""
    def lines(shown):
        rows = dict(reversed(row) for row in re.findall(r"^ +(\d+) .* (\S+)$", shown, re.M))
        return [*(rows[name] for name in names), "d"]
    return lines
