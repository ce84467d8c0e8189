"""A media library of a million assets beside one of ten thousand, as `make scale` compares them."""
import re, subprocess
from native import CHECKOUT, Missing
from works import Work

SMALL = "ten thousand"
# The kinds of work, by what their names in the test begin with.
GROUPS = {"page": "µs, worst page", "count": "µs, worst count", "changes": "µs, difference",
          "": "µs, worst of the others"}
LINE = re.compile(r"^(?P<name>.+): (?P<small>\d+) and (?P<large>\d+) µs, (?P<ratio>[\d.]+) times$", re.MULTILINE)


def group(name):
    return next(figure for begin, figure in GROUPS.items() if name.removeprefix("second ").startswith(begin))


def compare(contender):
    done = subprocess.run(["make", "-s", "-C", CHECKOUT, "scale"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    # What was slow once is tried again, and the best counts: others use the machine, too.
    best = {}
    for match in LINE.finditer(done.stdout):
        pair = int(match["large"]), int(match["small"])
        best[match["name"]] = min(best.get(match["name"], pair), pair, key=ratio)
    if not best:
        raise Missing(f"make scale ended with {done.returncode}: {done.stdout.strip()[-400:]}")
    found = {}
    for figure in GROUPS.values():
        large, small = max((pair for name, pair in best.items() if group(name) == figure), key=ratio)
        found |= {figure: large, (SMALL, figure): small}
    return found


def ratio(pair):
    return pair[0] / pair[1]


WORKS = [Work("a library of a million assets", {figure: 1.2 for figure in GROUPS.values()}, rounds=1, ours=compare)]
