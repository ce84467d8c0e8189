"""What a person's answers mean for a program, asked on a terminal by the real agent: every cell of the table, for questions
that a program asks for and for those that its first save and its first fetch put by themselves, and for what the person
sets later."""
from typing import NamedTuple

from consent import SERVICES, Told


class Row(NamedTuple):
    asked: str
    chose: str
    without_level: str
    add_only: str
    read_write: str
    add_only_prompts: str
    read_write_prompts: str


TABLE = [
    Row("nothing", "", "notDetermined", "notDetermined", "notDetermined", "yes", "yes"),
    Row("add-only", "yes", "notDetermined", "authorized", "notDetermined", "no", "yes"),
    Row("add-only", "no", "notDetermined", "denied", "notDetermined", "no", "yes"),
    Row("read-write", "chosen assets", "authorized", "limited", "limited", "no", "no"),
    Row("read-write", "all", "authorized", "authorized", "authorized", "no", "no"),
    Row("read-write", "no", "denied", "notDetermined", "denied", "yes", "no"),
    Row("both", "add-only", "denied", "authorized", "denied", "no", "no"),
    Row("both", "chosen assets", "authorized", "limited", "limited", "no", "no"),
    Row("both", "all", "authorized", "authorized", "authorized", "no", "no"),
    Row("both", "no", "denied", "denied", "denied", "no", "no"),
]
# What a user sets later, and the row that it comes to.
SETTINGS = {"none": "no", "add-only": "add-only", "limited": "chosen assets", "all": "all"}
# From each of them to each other one, and from the last to the first.
CHANGES = ["none", "all", "none", "limited", "all", "limited", "none", "add-only", "all", "add-only", "limited", "add-only",
           "none"]
LEVELS = {"nothing": [], "add-only": ["add-only"], "read-write": ["read-write"], "both": ["add-only", "read-write"]}
KEYS = {
    "": {},
    "yes": {"add-only": "y"},
    "no": {"add-only": "n", "read-write": "n"},
    "add-only": {"add-only": "y", "read-write": "n"},
    "chosen assets": {"add-only": "y", "read-write": "s"},
    "all": {"add-only": "y", "read-write": "y"},
}
OUTCOMES = {"notDetermined": "Dismissed", "denied": "Denied", "limited": "", "authorized": ""}


class Requests:
    """Questions that a program asks for, of several levels at once."""

    name = "requested"

    def put(self, program, person, levels, keys):
        """Has a program want some levels: what the person was asked, and the outcome of the last."""
        program.do("request", *(SERVICES[level] for level in levels))
        return person.answer(program, keys), program.reply()["code"]

    def asks(self, levels, keys):
        """The questions that this comes to. Who may read may add, and is not asked for that."""
        read = [question for level in levels if level == "read-write" for question in with_list(level, keys)]
        return read + (["add-only"] if "add-only" in levels and keys.get("read-write", "n") == "n" else [])


class Uses:
    """Questions that the first save and the first fetch put by themselves, one level after the other."""

    name = "used"

    def __init__(self, photo):
        self.photo = photo

    def put(self, program, person, levels, keys):
        asked, code = [], ""
        for level in levels:
            questions, code = (self.add if level == "add-only" else self.fetch)(program, person, keys)
            asked += questions
        return asked, code

    def asks(self, levels, keys):
        return [question for level in levels for question in with_list(level, keys)]

    def add(self, program, person, keys):
        program.do("add", str(self.photo))
        return person.answer(program, keys), program.reply()["code"]

    def fetch(self, program, person, keys):
        told = program.do("fetch")
        if told["code"] != "Undecided":
            # Who may not read finds nothing, and no error: the status says why.
            found = "" if not told["count"] else f", and finds {told['count']}"
            return [], "Denied" + found if told["status"] == "denied" else told["code"]
        asked = person.press(person.question(), keys)
        if asked[0] not in keys:
            # Another request would be another question.
            person.terminal.until("no answer")
            return asked, "Dismissed"
        program.do("request", SERVICES["read-write"])
        return asked + person.answer(program, keys), program.reply()["code"]


def with_list(level, keys):
    """The question for a level, and the list of assets behind it where the person is to choose."""
    return [level] + (["pick"] if keys.get(level) == "s" else [])


def generated(daemon, person, it, way):
    """The whole table, in one way of asking."""
    for number, row in enumerate(TABLE):
        what = f"{way.name}: {row.asked}{f', {row.chose}' if row.chose else ''}"
        levels, keys = LEVELS[row.asked], KEYS[row.chose]
        with Told(daemon, f"{way.name}-{number}") as program:
            asked, _ = way.put(program, person, levels, keys) if levels else ([], "")
            it(f"{what}: each level is asked once", asked == way.asks(levels, keys), asked)
            compare(program, person, it, way, row, what)


def compare(program, person, it, way, row, what):
    """The cells of a row with what is so for a program."""
    expected = [row.without_level, row.add_only, row.read_write]
    # Whether it prompts again changes nothing: nobody answers.
    for moment in ["", ", once it has asked again"]:
        found = program.do("status")
        for cell, is_so, should_be in zip(["no level", "add-only", "read-write"], found["status"], expected):
            it(f"{what}: {cell}{moment}", is_so == should_be, f"{is_so}, not {should_be}")
        if moment:
            return
        for level, status, should_be in [("add-only", row.add_only, row.add_only_prompts),
                                         ("read-write", row.read_write, row.read_write_prompts)]:
            asked, code = way.put(program, person, [level], {})
            it(f"{what}: {level} prompts again", asked == ([level] if should_be == "yes" else []), asked)
            it(f"{what}: {level} has its outcome", code == OUTCOMES[status], f"{code!r}, not {OUTCOMES[status]!r}")


def changed_later(daemon, person, it):
    """The user says no, and chooses something else later, again and again, while the program runs; and forgets it all."""
    rows = {row.chose: row for row in TABLE if row.asked == "both"}
    way = Requests()
    with Told(daemon, "settings") as program:
        way.put(program, person, LEVELS["both"], KEYS["no"])
        for former, choice in zip(CHANGES, CHANGES[1:]):
            daemon.control("auth", "set", program.id, "library", choice)
            compare(program, person, it, way, rows[SETTINGS[choice]], f"settings: {former}, then {choice}")
        daemon.control("auth", "reset", program.id, "library")
        compare(program, person, it, way, TABLE[0], "settings: reset")
