"""Programs that tests compile: in Swift, against CaptureKit as it was built with the other programs, and in C."""
import os, subprocess
from concurrent.futures import ThreadPoolExecutor

from checks import ROOT, it

SOURCES = ROOT / "Sources"
MODULES = ["CaptureKit", "CaptureMessages", "CaptureBus", "CaptureCore", "CaptureSystem", "CaptureRing", "MediaConversion",
           "CLinux", "CBus", "CLibAV"]
PACKAGES = ["Logging"]
STRICT = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Wshadow", "-Wmissing-prototypes", "-Wstrict-prototypes", "-Werror"]
# A sanitizer's program has the library's sources in it.
SANITIZERS = {"address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1"],
              "thread": ["-fsanitize=thread", "-O1"]}


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


def build_c(sources, target, *flags):
    """A program or a library in C, which has to compile without a warning."""
    target.parent.mkdir(exist_ok=True)
    done = subprocess.run(["cc", *STRICT, *sources, *flags, "-pthread", "-o", target], text=True, capture_output=True)
    it(f"{target.name} compiles without a warning", not done.returncode and not done.stderr, done.stderr[:3000])
    return target


def make(*targets):
    """What make builds of the project, which has to say nothing."""
    done = subprocess.run(["make", "-s", *targets], cwd=ROOT, text=True, capture_output=True)
    it(f"make builds {' and '.join(targets)} without a word", not done.returncode and not done.stderr, done.stderr[:3000])
