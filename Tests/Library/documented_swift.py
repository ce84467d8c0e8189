"""The documentation's programs in Swift, as they stand there: each does what it says, with the consent that it needs."""
import json, re

from checks import probe
from compiled import compiled
from consent import Program, named, nothing
from documented import Documented

# A second of a session with an output that a part of a program makes.
SESSION = """import CaptureKit
let session = try await CaptureSession()
try await session.addInput(.camera())
OUTPUT
try await session.addOutput(output)
try await session.startRunning()
try await Task.sleep(for: .seconds(1))
try await session.stopRunning()
"""


class InSwift(Documented):
    """One program after the other, each of them one to the daemon."""

    def all(self):
        texts = self.texts("swift", 6)
        first, frames, asking = self.texts("swift", 3, "CaptureKit.md")
        # Two of that page are parts of programs.
        texts += [first, SESSION.replace("OUTPUT", frames), "import CaptureKit\n" + asking]
        (self.adding, self.reading, self.changing, self.recording, self.picking, self.taking, self.capturing, self.framing,
         self.asking) = compiled(texts, self.daemon.folder / "compiled", self.daemon.programs)
        self.captures()
        self.adds()
        self.reads()
        self.records()
        self.picks()
        self.takes()
        self.changes()

    def program(self, name, executable):
        return Program(self.daemon, f"{name}-in-swift", executable)

    def run(self, program, keys, *arguments, **options):
        return program.run(self.person, keys, *arguments, **options)

    def captures(self):
        program = self.program("captures", self.capturing)
        self.allow_devices(program)
        # It records into the folder that it was started in. A slow machine records less, or for longer.
        for _ in range(6):
            (self.daemon.folder / "out.mkv").unlink(missing_ok=True)
            asked, status, said = self.run(program, {}, cwd=self.daemon.folder)
            self.it("capturing in Swift: it ends well, and says nothing", not asked and (status, said) == (0, ""),
                    f"{asked} {said}")
            found = json.loads(probe(self.daemon.folder / "out.mkv", "-show_streams", "-show_format", "-of", "json"))
            if 3 < float(found["format"]["duration"]) < 8:
                break
        kinds = [stream["codec_type"] for stream in found.get("streams", [])]
        self.it("capturing in Swift: a movie with picture and sound lasts about five seconds",
                kinds == ["video", "audio"] and 3 < float(found["format"]["duration"]) < 8, found)
        program = self.program("frames", self.framing)
        self.allow_devices(program)
        asked, status, said = self.run(program, {})
        times = [int(time) for time in re.findall(r"^(\d+) \d+$", said, re.M)]
        self.it("frames in Swift: they come, each later than the one before", status == 0 and len(times) > 3 and
                times == sorted(set(times)) and len(times) == said.count("\n"), f"{status} {said[-500:]}")
        program = self.program("asks", self.asking)
        asked, status, said = self.run(program, {"read-write": "s", "pick": nothing})
        self.it("asking in Swift: it is told the status", asked == ["read-write", "pick"] and
                (status, said) == (0, "the chosen assets, and our own\n"), f"{asked} {status} {said}")

    def allow_devices(self, program):
        for service in ["camera", "microphone"]:
            self.daemon.control("auth", "set", program.id, service, "authorized")

    def adds(self):
        program = self.program("adds", self.adding)
        asked, *outcome = self.run(program, {"add-only": "y"}, self.photos[0])
        self.it("adding in Swift: it is asked for that alone", asked == ["add-only"], asked)
        self.it("adding in Swift: it is told no id", outcome == [0, "added; this program may not read it back\n"], outcome)
        added = self.assets("--program", program.id)
        self.it("adding in Swift: it is in the library, as it was", list(added) == ["holiday.jpg"] and
                self.exported(added["holiday.jpg"]) == [self.photos[0].read_bytes()], added)
        asked, status, said = self.run(program, {}, self.text)
        self.it("adding in Swift: what is no photo is refused and not in the library", not asked and status != 0 and
                "nothing that is known here" in said and len(self.assets("--program", program.id)) == 1, f"{status} {said}")

    def reads(self):
        program = self.program("reads", self.reading)
        asked, status, said = self.run(program, {"read-write": "s", "pick": named(self.green)})
        self.it("reading in Swift: it asks", asked == ["read-write", "pick"], asked)
        first, listed, token = said.splitlines() if said.count("\n") == 3 else [said] * 3
        self.it("reading in Swift: it is limited to what was chosen", (status, first) == (0, "limited: 1 of 1"), said)
        green = self.assets()[self.green]["id"]
        self.it("reading in Swift: it lists it, with its picture",
                re.fullmatch(rf"{green} {re.escape(self.green)} \d+", listed), said)

        # What others add it never hears of; what is different about the chosen one, it does.
        self.daemon.control("library", "add", self.photos[0])
        self.daemon.control("library", "favourite", green)
        asked, status, said = self.run(program, {}, token)
        self.it("reading in Swift: it is told what is different the next time, and of no more", not asked and status == 0 and
                said.splitlines()[:1] == [first] and said.splitlines()[2:3] == ["0 came, 1 changed, 0 went"], said)
        refused = self.program("reads-nothing", self.reading)
        asked, status, said = self.run(refused, {"read-write": "n"})
        self.it("reading in Swift: denied, it finds nothing, and no error", asked == ["read-write"] and status == 0 and
                said.startswith("denied: 0 of 0\n") and said.count("\n") == 2, said)

    def records(self):
        for level, keys, questions, outcome in [
                ("read-write", {"read-write": "y"}, ["read-write"], r"([0-9a-f]{32}) Family\n"),
                ("add-only", {"read-write": "n", "add-only": "y"}, ["read-write", "add-only"], r"added (.+)\n")]:
            # A slow machine records less in the same time: then another program does.
            for number in range(6):
                program = self.program(f"records-{level}-{number}", self.recording)
                self.allow_devices(program)
                asked, status, said = self.run(program, keys)
                self.it(f"recording in Swift, {level}: each level is asked for once", asked == questions, asked)
                told = re.fullmatch(outcome, said)
                self.it(f"recording in Swift, {level}: it is told what came of it", status == 0 and told, f"{status} {said}")
                saved = self.assets("--program", program.id)
                movie = saved.get("birthday.mkv", {})
                if movie.get("duration", 0) > 4.5:
                    break
            self.it(f"recording in Swift, {level}: the movie is in the library, and lasts five seconds",
                    len(saved) == 1 and movie.get("kind") == "movie" and 4.5 < movie.get("duration", 0) < 5.5, saved)
            family = [asset["id"] for asset in self.library("list", "--album", "Family")]
            self.it(f"recording in Swift, {level}: it is in its album only if it may be",
                    (movie.get("id") in family) == (level == "read-write"), family)
            if told and level == "read-write":
                self.it("recording in Swift: by the id that it was told", told[1] == movie.get("id"), said)
        refused = self.program("records-nothing", self.recording)
        self.allow_devices(refused)
        before = len(self.library("list"))
        asked, status, said = self.run(refused, {"read-write": "n", "add-only": "n"})
        self.it("recording in Swift: where neither is allowed it is refused, and nothing captured",
                asked == ["read-write", "add-only"] and status != 0 and len(self.library("list")) == before, f"{asked} {said}")

    def picks(self):
        program = self.program("picks", self.picking)
        asked, status, said = self.run(program, {"pick": named(self.red, self.green)})
        self.it("picking in Swift: it asks for no consent, and is handed what was picked", asked == ["pick"] and status == 0 and
                re.sub(r" \d+$", "", said, flags=re.M).splitlines() ==
                [f"{photo.name} image/jpeg {photo.stat().st_size}" for photo in self.photos], f"{asked} {said}")
        kept = self.daemon.control("auth", "status", program.id, "--json")
        self.it("picking in Swift: what it may read is as it was", "authorized" not in kept and "limited" not in kept, kept)
        self.daemon.control("auth", "set", program.id, "library", "limited")
        asked, status, said = self.run(program, {"pick": named(self.green)})
        self.it("picking in Swift: limited, it has the person choose more, too", asked == ["pick", "pick"] and status == 0 and
                said.endswith("1 more to read\n1 of 1 picked may be read\n"), f"{asked} {said}")
        lists = iter([named(self.red), nothing])
        asked, status, said = self.run(program, {"pick": lambda shown: next(lists)(shown)})
        self.it("picking in Swift: the id of what was not chosen finds nothing", status == 0 and
                said.endswith("0 of 1 picked may be read\n"), f"{asked} {said}")

    def takes(self):
        program = self.program("takes", self.taking)
        steps = ["turns the camera on", "takes the photo", "hands it over"]
        asked, status, said = self.run(program, {step: "\n" for step in steps})
        self.it("taking in Swift: the person takes a photo, and the program gets it", asked == steps and status == 0 and
                re.fullmatch(r"photo-\d{8}-\d{6}\.jpg image/jpeg [1-9]\d+ \d+\n", said), f"{asked} {status} {said}")
        kept = self.daemon.control("auth", "status", program.id, "--json")
        self.it("taking in Swift: it has no consent by that", "authorized" not in kept, kept)
        asked, status, said = self.run(program, {steps[0]: "q"})
        self.it("taking in Swift: it is told of a no", asked == steps[:1] and (status, said) == (0, "no photo\n"),
                f"{asked} {status} {said}")

    def changes(self):
        refused = self.program("changes-nothing", self.changing)
        asked, *outcome = self.run(refused, {"read-write": "n"})
        self.it("changing in Swift: it does nothing without that consent", asked == ["read-write"] and
                outcome == [1, "the whole library may not be changed\n"], f"{asked} {outcome}")
        program = self.program("changes", self.changing)
        before = self.library("list")
        latest = before[0]["id"]
        asked, *outcome = self.run(program, {"read-write": "y", "delete 1 item": "y"})
        self.it("changing in Swift: it asks, and the person confirms what it deletes",
                asked == ["read-write", "delete 1 item"], asked)
        self.it("changing in Swift: it says so", outcome == [0, "1 deleted\n"], outcome)
        self.it("changing in Swift: the favourites are in its album", list(self.assets("--album", "Best")) == [self.green])
        binned = self.library("list", "--bin")
        self.it("changing in Swift: the latest is in the bin, a favourite, and reverted",
                [(asset["id"], asset["favourite"], asset["edited"]) for asset in binned] == [(latest, True, False)], binned)
        left = [asset["id"] for asset in self.library("list")]
        self.it("changing in Swift: the others are not", left == [asset["id"] for asset in before[1:]], left)
