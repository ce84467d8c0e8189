"""The metadata of a camera's frames, as lines of JSON."""
import json, signal

from json_schema import faults, load
from terminals import run


def metadata(daemon, folder, it):
    cameras = {one["id"]: one for one in json.loads(daemon.control("devices", "--json"))}
    it("a camera says that it has metadata", cameras["synthetic:camera"].get("metadata") == ["UVCH"], cameras)
    it("a microphone does not", "metadata" not in cameras["synthetic:microphone"], cameras)
    status, output, messages = run(daemon, "metadata", "-c", "synthetic:camera", "--count", "5")
    lines = [json.loads(line) for line in output.splitlines()]
    it("that of five frames is printed", status == 0 and len(lines) == 5 and not messages, f"{status} {output} {messages}")
    wrong = [fault for line in lines for fault in faults(line, load("metadata.json"))]
    it("as docs/schemas/metadata.json says", not wrong, wrong[:3])
    numbers = [line["frame"] for line in lines]
    it("each is of another frame", numbers == sorted(set(numbers)), numbers)
    it("its clocks are those of the frame", all(line["blocks"][0]["hostTime"] == line["timestamp"] for line in lines), lines)
    it("its bytes are there", all(len(line["bytes"]) == 44 for line in lines), lines)
    uses = json.loads(daemon.control("history", "--json"))
    it("it is one use of the camera", [one["device"] for one in uses if one.get("device")] == ["synthetic:camera"], uses)

    movie = daemon.control("start", "--preset", "low", "--video-codec", "mjpeg", folder / "both.mkv").strip()
    status, output, messages = run(daemon, "metadata", "-n", "3")
    it("it comes beside a recording", status == 0 and output.count("\n") == 3, f"{status} {messages}")
    child = daemon.start("metadata")
    it("it goes on until it is told to end", child.stdout.readline().startswith('{"timestamp":'))
    child.send_signal(signal.SIGINT)
    rest, said = child.communicate(timeout=240)
    it("and ends as asked", child.returncode == 0 and not said, f"{child.returncode} {said}")
    child = daemon.start("metadata")
    child.stdout.readline()
    child.stdout.close()
    it("a reader that leaves ends it", child.wait(60) == 0, child.stderr.read())
    child = daemon.start("metadata")
    child.stdout.readline()
    daemon.control("switch", "camera", "off")
    it("a switch stops it", json.loads(daemon.control("status", movie, "--json"))["state"] == "interrupted")
    daemon.control("switch", "camera", "on")
    it("it goes on by itself", child.stdout.readline())
    program = next(one["program"] for one in json.loads(daemon.control("auth", "list", "--json")) if one["service"] == "camera")
    daemon.control("auth", "set", program, "camera", "denied")
    _, said = child.communicate(timeout=240)
    it("a withdrawn consent ends it", child.returncode == 77 and "withdrawn" in said, f"{child.returncode} {said}")
    status, output, messages = run(daemon, "metadata", "-n", "1")
    it("without consent nothing comes", status == 77 and not output, f"{status} {messages}")
    status, _, messages = run(daemon, "metadata", "-c", "synthetic:microphone")
    it("a microphone is no camera", status == 66, f"{status} {messages}")
    status, _, messages = run(daemon, "metadata", "-n", "0")
    it("no lines at all is wrong usage", status == 64, f"{status} {messages}")
