"""The documentation's programs in Python, as they stand there: each does what it says, with the consent that it needs."""
import re

from pathlib import Path

from consent import Script, named
from documented import Documented

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ASSET = re.compile(r"^([0-9a-f]{32}) (\S+) (\d+)$", re.M)
TOKEN = re.compile(r"^[0-9a-f]+$")


class InPython(Documented):
    """One program after the other."""

    def all(self):
        self.adding, self.reading, self.changing, self.picking = self.texts("python", 4)
        self.adds()
        self.reads()
        self.picks()
        self.changes()
        self.recording = (EXAMPLES / "record.py").read_text()
        self.records()

    def run(self, program, keys, *text):
        return program.run(self.person, keys, *text)

    def adds(self):
        program = Script(self.daemon, "adds")
        asked, status, said = self.run(program, {"add-only": "y"}, self.adding, self.photos[0])
        self.it("adding: it is asked for that alone", asked == ["add-only"], asked)
        self.it("adding: it is told no id", (status, said) == (0, "added; this program may not read it back\n"),
                f"{status} {said}")
        added = self.assets("--program", program.id)
        self.it("adding: it is in the library", list(added) == ["holiday.jpg"], added)
        contents = self.exported(added["holiday.jpg"])
        self.it("adding: as it was", contents == [self.photos[0].read_bytes()], len(contents))
        asked, status, said = self.run(program, {}, self.adding, self.text)
        self.it("adding: what is no photo is refused", not asked and status == 1 and said.startswith("BadData: "), said)
        self.it("adding: and is not in the library", len(self.assets("--program", program.id)) == 1)
        asked, status, said = self.run(program, {"read-write": "n"}, self.reading)
        self.it("adding: it reads nothing, its own included",
                asked == ["read-write"] and status == 0 and said.startswith("denied 0\n"), f"{asked} {said}")

    def records(self):
        program = Script(self.daemon, "records")
        path = self.daemon.folder / "python.mkv"
        self.daemon.control("auth", "set", program.id, "camera", "denied")
        asked, status, said = self.run(program, {}, self.recording, path)
        self.it("recording: it is refused without consent", not asked and status == 77 and "denied" in said, said)
        self.daemon.control("auth", "set", program.id, "camera", "authorized")
        asked, status, said = self.run(program, {}, self.recording, path)
        self.it("recording: it maps a ring", status == 0 and said.endswith("begins with CAPRING\n"), said)
        self.it("recording: it writes a movie", path.read_bytes()[:4] == b"\x1a\x45\xdf\xa3" and path.stat().st_size > 10000,
                path.stat().st_size)

    def reads(self):
        program = Script(self.daemon, "reads")
        asked, status, said = self.run(program, {"read-write": "s", "pick": named(self.green)}, self.reading)
        self.it("reading: it asks", asked == ["read-write", "pick"], asked)
        self.it("reading: it is limited to what was chosen", status == 0 and said.startswith("limited 1\n"), said)
        small = self.daemon.folder / "small.jpg"
        green = self.assets()[self.green]["id"]
        self.daemon.control("library", "thumbnail", green, "--size", "small", small)
        self.it("reading: it lists it, with its picture",
                ASSET.findall(said) == [(green, self.green, str(small.stat().st_size))], said)
        token = said.splitlines()[-1]
        self.it("reading: it keeps where the library stood", TOKEN.match(token), said)

        # What others add it never hears of, and what it adds itself it may read.
        self.daemon.control("library", "add", self.photos[0])
        asked, status, own = self.run(program, {}, self.adding, self.photos[1])
        self.it("reading: it may add, and is told the id", not asked and status == 0 and TOKEN.match(own), f"{asked} {own}")
        asked, status, said = self.run(program, {}, self.reading, token)
        names = [name for _, name, _ in ASSET.findall(said)]
        self.it("reading: its own is there the next time", names == ["holiday.jpg", self.green] and
                own.strip() in said and said.startswith("limited 2\n") and not asked, said)
        different = re.findall(r"'([a-z-]+)': ([1-9]\d*)[,}]", said)
        self.it("reading: as what is different", different == [("inserted", "1")], said)

    def picks(self):
        program = Script(self.daemon, "picks")
        asked, status, said = self.run(program, {"pick": named(self.red, self.green)}, self.picking)
        sizes = "".join(f"{photo.name} {photo.stat().st_size}\n" for photo in self.photos)
        self.it("picking: it asks for no consent", asked == ["pick"], asked)
        self.it("picking: it is handed what was picked", (status, said) == (0, sizes), said)
        kept = self.daemon.control("auth", "status", program.id, "--json")
        self.it("picking: what it may read is as it was", "authorized" not in kept and "limited" not in kept, kept)
        asked, status, said = self.run(program, {}, self.picking)
        self.it("picking: closed, it is handed nothing", status == 1 and said.startswith("Dismissed: "), said)

    def changes(self):
        program = Script(self.daemon, "changes")
        refused = (1, "the whole library may not be changed\n")
        asked, *outcome = self.run(program, {}, self.changing)
        self.it("changing: it does nothing without that consent", not asked and tuple(outcome) == refused, outcome)
        self.daemon.control("auth", "set", program.id, "library", "limited")
        asked, *outcome = self.run(program, {}, self.changing)
        self.it("changing: nor with chosen assets", not asked and tuple(outcome) == refused, outcome)
        self.daemon.control("auth", "set", program.id, "library", "all")
        self.daemon.control("library", "favourite", self.assets()[self.green]["id"])
        before = self.library("list")
        latest = before[0]["id"]
        asked, status, said = self.run(program, {"delete 1 item": "y"}, self.changing)
        self.it("changing: the person confirms what it deletes", asked == ["delete 1 item"], asked)
        self.it("changing: it says so", (status, said) == (0, "1 deleted\n"), said)
        best = list(self.assets("--album", "Best"))
        self.it("changing: the favourites are in its album", best == [self.green], best)
        binned = self.library("list", "--bin")
        self.it("changing: the latest is in the bin, a favourite, and reverted",
                [(asset["id"], asset["favourite"], asset["edited"]) for asset in binned] == [(latest, True, False)], binned)
        left = [asset["id"] for asset in self.library("list")]
        self.it("changing: the others are not", left == [asset["id"] for asset in before[1:]], left)
        asked, status, said = self.run(program, {"delete 1 item": "n"}, self.changing)
        self.it("changing: refused, it deletes nothing", asked == ["delete 1 item"] and status == 1 and
                len(self.library("list", "--bin")) == 1, f"{asked} {status} {said}")
