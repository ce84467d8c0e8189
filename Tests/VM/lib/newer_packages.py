#!/usr/bin/env python3
"""newer_packages.py FOLDER    copies the Debian packages in FOLDER into FOLDER/newer, with `+newer` after their version"""
import re, shutil, subprocess, sys, tempfile
from pathlib import Path


def main():
    folder = Path(sys.argv[1]).resolve()
    newer = folder / "newer"
    shutil.rmtree(newer, ignore_errors=True)
    newer.mkdir()
    for package in sorted(folder.glob("*.deb")):
        with tempfile.TemporaryDirectory() as work:
            renew(package, newer / package.name, Path(work))


def renew(package, copy, work):
    """The control files alone: the data stays compressed as it is."""
    shutil.copy(package, copy)
    subprocess.run(["dpkg-deb", "--control", package, work / "files"], check=True)
    control = work / "files/control"
    text = control.read_text()
    version = re.search(r"^Version: (.*)$", text, re.M)[1]
    control.write_text(text.replace(version, f"{version}+newer"))
    names = subprocess.run(["ar", "t", package], text=True, stdout=subprocess.PIPE, check=True).stdout.split()
    member = work / next(name for name in names if name.startswith("control.tar"))
    subprocess.run(["tar", "--auto-compress", "--owner=0", "--group=0", "-C", control.parent, "-cf", member, "."], check=True)
    subprocess.run(["ar", "r", copy, member], check=True)


if __name__ == "__main__":
    main()
