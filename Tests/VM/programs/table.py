"""The words of the table."""
import re

HEAD = "program", "situation", "it got", "the person saw", "the history says"
# At the most: with what is between columns, and with what a log puts before a line, 120 columns.
WIDTHS = 12, 12, 35, 24, 25


def got(run):
    """How much: pictures, or seconds of sound."""
    if not run.amount:
        return "nothing"
    if run.program.service == "camera":
        return f"{run.amount} pictures"
    return f"{run.amount * 1000:.0f} ms of silence" if not run.has_any() else f"{run.amount:.1f} s"


def words_on(run):
    """What its terminal shows of the reason: ours in short, else the end of its own line about an error."""
    for words in ("was denied", "was withdrawn", "is switched off"):
        if re.search(rf"captured:.* {words}", run.said):
            return f"“{words}”"
    lines = [line.rsplit(": ", 1)[-1] for line in run.said.splitlines() if re.search("rror|ailed|default: ", line)]
    return f"“{lines[0]}”" if lines else "no word"


def outcome(decision):
    """A decision of the history."""
    word = {"authorized": "yes", "denied": "no"}.get(decision["status"], "undecided")
    cause = {"answer": "answer", "stored-answer": "stored", "switch": "switch"}.get(decision["cause"], decision["cause"])
    return "off" if cause == "switch" else f"{word} ({cause})"


def brief(entry):
    return " ".join(entry.get(key, "") for key in ("id", "kind", "cause", "status", "outcome", "message", "pid"))


def printed(rows):
    """In columns."""
    for row in [HEAD, *rows]:
        cells = [cell if len(cell) <= width else f"{cell[:width - 1]}…" for cell, width in zip(row, WIDTHS)]
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip()
