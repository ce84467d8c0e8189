"""Programs in Swift, compiled against CaptureKit as it was built with the other programs."""
import os, subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "Sources"
MODULES = ["CaptureKit", "CaptureBus", "CaptureCore", "CaptureSystem", "CaptureRing", "CLinux"]


def compiled(texts, folder, products):
    """The executables of some programs, in a folder that is made for them."""
    folder.mkdir()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(lambda number: build(texts[number], folder / str(number), products), range(len(texts))))


def build(text, folder, products):
    folder.mkdir()
    main = folder / "main.swift"
    main.write_text(text)
    done = subprocess.run(["swiftc", "-swift-version", "6", "-I", products / "Modules", *maps(products), *objects(products),
                           "-lsystemd", main, "-o", folder / "program"], text=True, capture_output=True, timeout=600)
    if done.returncode or "warning:" in done.stderr:
        raise AssertionError(f"{text}\ndoes not compile without a warning:\n{done.stdout}{done.stderr}")
    return folder / "program"


def maps(products):
    found = [*SOURCES.glob("*/module.modulemap"), products / "CLinux.build/module.modulemap"]
    return [word for path in found if path.exists() for word in ["-Xcc", f"-fmodule-map-file={path}"]]


def objects(products):
    """What the kit is made of, file by file: objects of files that went may lie among them."""
    return [products / f"{module}.build/{file.name}.o" for module in MODULES
            for file in (SOURCES / module).rglob("*") if file.suffix in (".swift", ".c")]
