"""Movies in segments, as a person records them."""
import json, os, re, signal, subprocess

from checks import probe, wait_until
from terminals import run, shown


def pictures(file):
    return int(probe(file, "-count_packets", "-select_streams", "v", "-show_entries", "stream=nb_read_packets") or 0)


def recording(daemon, *arguments):
    """A recording that goes on, and its session's number, once it runs."""
    child = daemon.start("record", *arguments)
    while True:
        running = [one["id"] for one in json.loads(daemon.control("sessions", "--json")) if one["state"] == "running"]
        if running or child.poll() is not None:
            return child, running[-1] if running else ""


def recorded(daemon, holds, *arguments):
    """What a recording tells of itself. A slow machine records less; then the recording is made again."""
    path = arguments[-1]
    for _ in range(6):
        for file in path.parent.glob(f"{path.stem}-*"):
            file.unlink()
        said = json.loads(daemon.control("record", "--json", *arguments))
        if holds(said["segments"]):
            break
    return said


def segments(daemon, folder, it):
    options = ["--preset", "low", "--video-codec", "mjpeg"]
    is_whole = lambda parts: 3 <= len(parts) <= 8 and abs(sum(one["duration"] for one in parts) - 4) < 0.2
    said = recorded(daemon, is_whole, *options, "--segment", "500ms", "-d", "4s", folder / "a.mkv")
    names = [one["file"] for one in said["segments"]]
    # On a busy machine the next file may come late.
    it("files are numbered", 3 <= len(names) <= 8 and
       names == [str(folder / f"a-{number:04}.mkv") for number in range(1, len(names) + 1)], names)
    it("they are as long as the recording", abs(sum(one["duration"] for one in said["segments"]) - 4) < 0.2, said)
    following = [f"a-{len(names) + more:04}.mkv" for more in (1, 2)]
    it("no others are there", sorted(map(str, folder.glob("a*"))) == names, list(folder.glob("a*")))
    it("each has the pictures that are told", all(pictures(one["file"]) == one["frames"] for one in said["segments"]), said)
    it("together all of them", sum(one["frames"] for one in said["segments"]) == said["frames"], said)
    it("and its bytes", all(os.stat(one["file"]).st_size == one["bytes"] for one in said["segments"]), said)
    times = [one["time"] for one in said["segments"]]
    it("in the order of time", times == sorted(times), times)
    for _ in range(6):
        for name in following:
            (folder / name).unlink(missing_ok=True)
        text, status = shown(daemon, 100, "record", *options, "--segment", "500ms", "-d", "3s", folder / "a.mkv")
        if status or all((folder / name).exists() for name in following):
            break
    it("numbers go on behind those that are there", status == 0 and all((folder / name).exists() for name in following), text)
    it("a person is told of each file", all(re.search(rf"{name}: 00:0\d\.\d, \d+ frames, ", text) for name in following), text)
    it("and of all", f"{following[0]} to " in text, text)

    child, number = recording(daemon, *options, "--segment", "manual", folder / "cut.mp4")
    _, _, messages = run(daemon, "cut", number)
    it("a cut is told", messages == f"session {number}: movie goes on in its next file\n", messages)
    wait_until(lambda: (folder / "cut-0002.mp4").exists() or child.poll() is not None)
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=240)
    it("it makes a file", child.returncode == 0 and "cut-0001.mp4 to " in messages, messages)
    it("which plays", pictures(folder / "cut-0002.mp4") > 0)
    status, _, messages = run(daemon, "cut", number)
    it("what is over cannot be cut", status in (65, 75), f"{status} {messages}")

    said = recorded(daemon, lambda parts: sum(one["duration"] for one in parts) > 2, *options, "--segment", "300ms",
                    "--keep", "1s", "-d", "3", folder / "kept.mkv")
    left = sorted(map(str, folder.glob("kept*")))
    it("the newest files stay", left == [one["file"] for one in said["segments"]][-len(left):], left)
    lengths = [one["duration"] for one in said["segments"]][-len(left):]
    # All but the oldest would be too few, and the last is on top.
    it("with as much as is to be kept, and no more", sum(lengths) > 0.95 and sum(lengths[1:-1]) < 1.05, lengths)
    is_large = lambda parts: len(parts) > 3 and sum(one["bytes"] <= 65536 for one in parts) > 0.7 * len(parts)
    said = recorded(daemon, is_large, *options, "--segment-size", "64K", "--keep-size", "200K", "-d", "3", folder / "sized.mkv")
    sizes = [one["bytes"] for one in said["segments"]]
    # On a busy machine the next file may come late.
    it("a size makes files", len(sizes) > 3 and sum(size <= 65536 for size in sizes) > 0.7 * len(sizes), sizes)
    it("and those that stay take no more than they may", sum(file.stat().st_size for file in folder.glob("sized*")) <= 204800)

    child, number = recording(daemon, *options, "--segment", "300ms", folder / "killed.mkv")
    wait_until(lambda: (folder / "killed-0003.mkv").exists() or child.poll() is not None)
    child.kill()
    child.communicate()
    wait_until(lambda: not json.loads(daemon.control("sessions", "--json")))
    left = sorted(folder.glob("killed*"))
    it("after a kill each file plays", len(left) >= 3 and all(pictures(file) > 0 for file in left), left)

    child, number = recording(daemon, *options, "--segment", "manual", folder / "taken.mkv")
    (folder / "taken-0003.mkv").write_text("mine")
    beyond = lambda: sorted(folder.glob("taken-000[4-9].mkv"))
    for made in [(folder / "taken-0002.mkv").exists, beyond]:
        run(daemon, "cut", number)
        wait_until(lambda: made() or child.poll() is not None)
    child.send_signal(signal.SIGINT)
    out, messages = child.communicate(timeout=240)
    it("a name that is taken meanwhile is passed over", child.returncode == 0 and (folder / "taken-0003.mkv").read_text() == "mine"
       and all(pictures(file) > 0 for file in beyond()) and beyond(), f"{child.returncode} {messages}")
    status, _, messages = run(daemon, "record", *options, "--segment", "1s", folder / ("n" * 250 + ".mkv"))
    it("a name that is too long is refused at once", status == 74 and "too long" in messages, f"{status} {messages}")

    child, number = recording(daemon, *options, "--segment", "500ms", "--json", folder / "lost.mkv")
    third = folder / "lost-0003.mkv"
    wait_until(lambda: third.exists() and third.stat().st_size or child.poll() is not None)
    subprocess.run(["pkill", "-KILL", "-P", str(daemon.running[-1].pid), "-f", "captured-recorder"], check=True)
    out, messages = child.communicate(timeout=240)
    said = json.loads(out)["segments"]
    it("files of a recorder that was killed are told, too", child.returncode == 74 and
       [one["file"] for one in said] == [str(path) for path in sorted(folder.glob("lost*"))], f"{out} {messages}")
    it("the last as not finished", [one["complete"] for one in said][-1] is False and said[0]["complete"], said)

    for arguments, status, word in [(["--keep", "1h", "x.mkv"], 64, "--segment"), (["--segment", "soon", "x.mkv"], 64, "10s"),
                                    (["--segment", "1ms", "x.mkv"], 64, "0.1"),
                                    (["--segment-size", "1K", "x.mkv"], 64, "65536"),
                                    (["--by-clock", "--segment", "manual", "x.mkv"], 64, "10m"),
                                    (["--segment", "1m", "x.flac"], 64, "movies"),
                                    (["--segment", "1m", "-y", "x.mkv"], 64, "numbers"),
                                    (["--segment", "1m", "--max-size", "1M", "x.mkv"], 64, "size of a segment"),
                                    (["--segment", "1m", "--keep", "0", "x.mkv"], 64, "above 0"),
                                    (["--segment", "1m", "--keep", "nan", "x.mkv"], 64, "above 0"),
                                    (["--segment", "inf", "x.mkv"], 64, "out of range"),
                                    (["--segment", "1m", "--keep-size", "0", "x.mkv"], 64, "1 or more"),
                                    (["--segment", "1m", "no/such/x.mkv"], 74, "no/such"),
                                    (["--segment", "1m", "--to-library", "-f", "mkv"], 64, "in files")]:
        found, _, messages = run(daemon, "record", *arguments, cwd=folder)
        it(f"{' '.join(arguments)} is refused, with what would be right", found == status and word in messages,
           f"{found} {messages}")
    number = daemon.control("start", "--preset", "low", folder / "whole.mkv").strip()
    daemon.grows(number, "frames")
    status, _, messages = run(daemon, "cut", number)
    it("a movie in one file is not cut", status == 65 and "--segment" in messages, f"{status} {messages}")
    daemon.control("stop", number)
