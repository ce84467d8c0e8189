"""What the attacks on the bridges share: attackers, what the logs say, and how an attack is told of."""
import contextlib, importlib.machinery, importlib.util, re, subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("bridge_test", str(HERE / "test"))
base = importlib.util.module_from_spec(importlib.util.spec_from_loader("bridge_test", loader))
loader.exec_module(base)

ROOT, PROGRAMS, LIMIT, SIZE = base.ROOT, base.PROGRAMS, base.LIMIT, base.SIZE
Program, it, wait_until = base.Program, base.it, base.wait_until
ALL = "0710"  # rights of PipeWire's clients, in octal as its headers have them
WORDS = ["memory", "leftover", "picture", "sound"]
NOBODY = "there is nobody to ask"
DENIED = "was denied the camera"


class Logs:
    """What the daemon and its bridge have said since."""

    def __init__(self, stage):
        self.stage = stage
        self.begins = {name: len(text) for name, text in self.texts().items()}

    def texts(self):
        path = self.stage.folder / "bridge.log"
        return {"daemon": self.stage.log(1 << 30), "bridge": path.read_text(errors="replace") if path.exists() else ""}

    def line(self, pattern):
        for name, text in self.texts().items():
            # The daemon writes a new file when it is started anew.
            begin = self.begins[name] if len(text) >= self.begins[name] else 0
            for line in text[begin:].splitlines():
                if re.search(pattern, line):
                    return line.strip()
        return ""


class Taker(Program):
    """A client of PipeWire that takes what it can get."""

    def __init__(self, stage, name, answer=None, service="camera"):
        super().__init__(stage, compiled(stage, "taker", "maker"), name, answer, service)

    def take(self, *options, media="video", command=()):
        self.start(*options, media, *command)
        it(f"{self.path.name} is there", wait_until(lambda: "began\n" in self.said), self.said)
        return self

    def got(self):
        return {word: count for word in WORDS if (count := self.said.splitlines().count(word))}

    def told(self):
        return next((line for line in self.said.splitlines() if line.startswith("error ")), "")

    def private(self):
        """The private nodes that it sees: number and serial."""
        return dict(re.findall(r"^private node (\d+) serial (\d+)$", self.said, re.M))

    def ports(self, node):
        return re.findall(rf"^port (\d+) of {node}$", self.said, re.M)


class Meddler:
    """A client of PipeWire that uses its rights."""

    def __init__(self, stage):
        self.output = open(stage.folder / "meddler.out", "w+")
        self.process = subprocess.Popen([compiled(stage, "meddler")], env={**stage.environment, "PIPEWIRE_DEBUG": "0"},
                                        text=True, stdin=subprocess.PIPE, stdout=self.output, stderr=self.output)

    def said(self):
        return Path(self.output.name).read_text()

    def do(self, *lines):
        before = self.said().count("done\n")
        self.process.stdin.write("".join(f"{line}\n" for line in [*lines, "sync"]))
        self.process.stdin.flush()
        it("the meddler did it", wait_until(lambda: self.said().count("done\n") > before), lines[0])

    def end(self):
        self.process.kill()
        self.process.wait()
        self.output.close()


@contextlib.contextmanager
def meddler(stage):
    found = Meddler(stage)
    try:
        yield found
    finally:
        found.end()


def compiled(stage, name, *more, flags=(), target=None):
    target = stage.folder / (target or f"{name}.built")
    if target.exists():
        return target
    packages = subprocess.run(["pkg-config", "--cflags", "--libs", "libpipewire-0.3"], text=True, capture_output=True)
    sources = [HERE / "attackers" / f"{each}.c" for each in (name, *more)]
    done = subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", *sources, "-o", target, *map(str, flags),
                           *packages.stdout.replace("-I", "-isystem ").split()], text=True, capture_output=True)
    it(f"{name}.c compiles", not done.returncode and not done.stderr, done.stderr)
    return target


def tell(name, tried, told, line):
    print(f"# attack {name}: tried: {tried}; was told: {told or 'nothing'}; the log: {line or 'nothing'}", flush=True)


def refused(logs, name, tried, line, taker=None, told=""):
    """The attack got nothing, was told so where somebody tells it, and a line of the logs shows it."""
    wait_until(lambda: logs.line(line), 20)
    shown, answer = logs.line(line), ""
    it(f"{name} is refused: {tried}", shown, f"no '{line}' in the logs\n{logs.stage.said()}")
    if taker:
        if told:
            it(f"{name}: it is told why", wait_until(lambda: told in taker.told(), 20), taker.said)
        answer = taker.told()
        it(f"{name}: it gets nothing", not taker.got(), taker.said[-600:])
    tell(name, tried, answer, shown)


def not_held(name, tried, got, words):
    """The attack may succeed, and the threat model says so."""
    page = re.sub(r"\s+", " ", (ROOT / "docs/threat-model.md").read_text())
    it(f"{name} is in the threat model: {tried}", words in page, words)
    print(f"# attack {name}: tried: {tried}; NOT HELD: {got}; the threat model: {words}", flush=True)


def objects(stage, kind):
    return [each for each in stage.dump() if each["type"].endswith(kind)]


def clients_of(stage, process):
    """The numbers of a process's clients."""
    return [each["id"] for each in objects(stage, "Client") if
            each["info"]["props"].get("pipewire.sec.pid") == process.pid]


def client_of(stage, process):
    return wait_until(lambda: clients_of(stage, process))[0]


def ports_of(stage, node, direction):
    return [each["id"] for each in objects(stage, "Port") if
            each["info"]["props"].get("node.id") == node and each["info"]["direction"] == direction]


def decoy(stage, media_class="Video/Source"):
    return next(iter(stage.nodes(media_class).values()))["id"]


def camera(stage, name):
    """An allowed program that sees."""
    gst = Program(stage, "gst-launch-1.0", name, "authorized")
    sees(gst.camera(), f"{name}: the allowed program sees")
    return gst


def sees(gst, what="the allowed program goes on"):
    before = gst.amount()
    it(what, wait_until(lambda: gst.amount() > before + 3 * SIZE), gst.said)


def has_private(meddler, taker, *more):
    """Has the taker, and other clients, see the private nodes; the one that it sees then, and its ports."""
    highest = max(each["id"] for each in taker.stage.dump()) + 40
    for client in [client_of(taker.stage, taker.process), *more]:
        meddler.do(f"permit {client} 0-{highest} {ALL}")
    it("a second connection can raise the rights of the first", wait_until(taker.private), taker.said)
    node = next(reversed(taker.private()))
    it("and shows its ports", wait_until(lambda: taker.ports(node)), taker.said)
    return node, taker.ports(node)


def process_of(stage, name):
    return next(each for each in reversed(stage.running) if
                Path(str(each.args[0])).name == name and each.poll() is None)
