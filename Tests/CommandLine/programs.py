"""capturectl doctor --programs: what is found in a folder of the path, among files that are made to mislead."""
import json, os, re, shutil, subprocess, time
from terminals import WIDTHS, shown, widest

STATIC = '#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }\n'
DYNAMIC = """#include <fcntl.h>
#include <sys/ioctl.h>
int main(void) { return ioctl(open("/dev/video0", O_RDONLY), 0); }
"""


def programs(daemon, folder, it):
    """What is installed, and how each comes to captured."""
    place = folder / "bin"
    place.mkdir()
    environment = {**daemon.environment, "PATH": f"{place}:{os.environ['PATH']}", "HOME": str(folder), "XDG_DATA_DIRS": str(folder)}

    def made(name, source, *options):
        command = [shutil.which("cc") or "clang", *options, "-x", "c", "-", "-o", place / name]
        subprocess.run(command, input=source, text=True, check=True)

    made("a-static", STATIC, "-static")
    made("a-direct", DYNAMIC)
    (place / "a-script").write_text("#!/usr/bin/env python3\nimport cv2\n")
    (place / "an-empty").write_text("")
    os.mkfifo(place / "a-pipe", 0o777)
    (place / "a-loop").symlink_to("a-loop")
    (place / "an-alias").symlink_to("a-direct")
    whole = (place / "a-direct").read_bytes()
    for number, length in enumerate([4, 63, 64, 100, 500, len(whole) // 2]):
        (place / f"cut-{number}").write_bytes(whole[:length])
    # The table of parts: offsets, sizes and counts beyond everything.
    for number in range(16, 64, 4):
        (place / f"wild-{number}").write_bytes(whole[:number] + b"\xff" * 4 + whole[number + 4:])
    for number in range(64, 64 + 56 * 8, 28):
        (place / f"wilder-{number}").write_bytes(whole[:number] + b"\xff" * 8 + whole[number + 8:])
    with open(place / "a-large", "wb") as large:
        large.write(whole[:64])
        large.truncate(1 << 40)
    for path in place.iterdir():
        if path.is_file():
            path.chmod(0o755)
    (folder / "applications").mkdir()
    (folder / "applications" / "a.desktop").write_text(f"[Desktop Entry]\nExec={place}/a-direct --now\n")
    os.mkfifo(folder / "applications" / "c.desktop")
    (folder / "applications" / "b.desktop").write_bytes(b"\xff\xfe[Desktop Entry\nExec=\"\\\n" * 1000)

    def doctor(*options):
        began = time.monotonic()
        done = subprocess.run([daemon.programs / "capturectl", "doctor", *options], env=environment, text=True, timeout=300,
                              capture_output=True)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - began

    code, out, err, _ = doctor("--programs")
    rows = [re.split(r"  +", line) for line in out.splitlines()]
    found = {row[0]: row for row in rows}
    it("the doctor lists programs", code == 0 and not err and rows[0] == ["PROGRAM", "USES", "COMES BY", "FILE"], f"{code} {out}{err}")
    it("a static program is not reached", found.get("a-static", [])[1:3] == ["V4L2", "not reached: static"], out)
    it("one that opens a node itself is found, with its other name", found.get("a-direct (an-alias)", [])[1:2] == ["V4L2"], out)
    it("a script is, by what it loads", found.get("a-script", [])[1:2] == ["V4L2"], out)
    strange = [name for name in found if re.match("a-(pipe|loop)|an-empty|cut-[0-3]", name)]
    it("what is no program is not listed", not strange, strange)
    code, out, err, lasted = doctor("--json")
    facts = json.loads(out)
    direct = next((row for row in facts["programs"] if row["name"] == "a-direct"), {})
    it("as JSON it says which the desktop has", direct.get("onDesktop") and direct["alsoCalled"] == ["an-alias"], direct)
    it("and how the bridges are", [bridge["bridge"] for bridge in facts["bridges"]] == ["V4L2", "ALSA", "PipeWire"], facts["bridges"])
    it("it is quick", lasted < 30, lasted)
    code, out, err, _ = doctor()
    page = out[out.index("installed program"):]
    it("the report ends in a page of them", page.count("\n") < 25 and "a-static" in page and "a-direct" in page, out)
    daemon.environment.update(environment)
    for columns in WIDTHS:
        text, status = shown(daemon, columns, "doctor", "--programs")
        it(f"the list fits {columns} columns", status == 0 and widest(text) <= columns, text)
    text, _ = shown(daemon, 60, "doctor", "--programs", "--wide")
    it("with --wide it is whole", f"{place}/a-direct" in text, text)
