"""Programs in Swift, compiled against CaptureKit as it was built with the other programs."""
import os, subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "Sources"
MODULES = ["CaptureKit", "CaptureMessages", "CaptureBus", "CaptureCore", "CaptureSystem", "CaptureRing", "MediaConversion",
           "CLinux", "CBus", "CLibAV"]
PACKAGES = ["Logging"]


def compiled(texts, folder, products):
    """The executables of some programs, in a folder that is made for them."""
    folder.mkdir()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(lambda number: build(texts[number], folder / str(number), products), range(len(texts))))


def build(text, folder, products, *more):
    """A program of some text, in a folder that is made for it, compiled with more arguments."""
    folder.mkdir()
    main = folder / "main.swift"
    main.write_text(text)
    # Optimized: an example that adds up every byte of a frame keeps pace with the camera on a busy machine, too.
    # The driver writes the list of libraries beside the first file that it links. The program comes first, so that none of
    # those compiled at the same time finds another's list.
    done = subprocess.run(["swiftc", main, "-O", "-swift-version", "6", "-I", products / "Modules", *maps(products),
                           *objects(products), "-lsystemd", "-lturbojpeg", "-lyuv", *more, "-o", folder / "program"],
                          text=True, capture_output=True, timeout=600)
    if done.returncode or "warning:" in done.stderr:
        raise AssertionError(f"{text}\ndoes not compile without a warning:\n{done.stdout}{done.stderr}")
    return folder / "program"


def maps(products):
    found = [*SOURCES.glob("*/module.modulemap"), *(products / f"{module}.build/module.modulemap" for module in MODULES)]
    return [word for path in found if path.exists() for word in ["-Xcc", f"-fmodule-map-file={path}"]]


def objects(products):
    """What the kit is made of, file by file: objects of files that went may lie among them. Then the packages it uses."""
    own = [products / f"{module}.build/{file.name}.o" for module in MODULES
           for file in (SOURCES / module).rglob("*") if file.suffix in (".swift", ".c")]
    return own + [file for package in PACKAGES for file in sorted((products / f"{package}.build").rglob("*.o"))]
