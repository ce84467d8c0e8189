"""inside.py ROUNDS OUTPUT: measures each piece of work by each contender, in the test machine."""
import json, random, statistics, sys
from accounting import Meter, Missing
from contenders import WORKS

# At most this share of the peer's processor time.
GOAL = 1.0


def once(work, contender):
    """Processor seconds and frames of a short and of a long run."""
    found = []
    for seconds in work.lengths:
        work.prepare()
        with Meter() as meter:
            frames = contender(seconds)
        found.append((meter.seconds, frames))
    return found


def costs(rounds):
    """Processor seconds a frame, and of the start: what long and short runs differ by is the work, what they have in
    common is the start. So a resident daemon does not win by having been started before. Of medians, since a start on a
    busy host may take more than many frames do."""
    (short, few), (long, many) = [[statistics.median(values) for values in zip(*runs)] for runs in zip(*rounds)]
    if many <= few or long <= short:
        raise Missing(f"{many} frames took {long:.2f} s, {few} took {short:.2f} s: the host was too busy")
    each = (long - short) / (many - few)
    return each, max(short - each * few, 0)


def write(results, faults, output):
    """All rows with what is known so far, so that a machine that dies takes along nothing that was measured."""
    found = {}
    for key in results.keys() - faults.keys():
        try:
            found[key] = costs(results[key])
        except Missing as error:
            faults = {**faults, key: str(error)}
    rows = []
    for work in WORKS:
        for peer in work.contenders:
            for index, figure in enumerate(["CPU s per frame", "CPU s to start"]):
                ours, theirs = (found[key][index] if key in found else None for key in [(work, "ours"), (work, peer)])
                row = {"work": work.work, "figure": figure, "ours": ours, "peer": theirs, "peerName": peer,
                       "ratio": ours / theirs if ours is not None and theirs else None,
                       # The start is told, not judged: a daemon that is there already has done part of it.
                       "goal": GOAL if index == 0 else None}
                fault = faults.get((work, "ours")) or faults.get((work, peer))
                if index == 0 and row["ratio"] is None:
                    row["error"] = fault or "it was not come to"
                rows.append(row)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(rows, file)


def main():
    rounds, output = int(sys.argv[1]), sys.argv[2]
    plan = [(work, name) for work in WORKS for name in ["ours", *work.contenders]]
    results, faults = {}, {}
    # The first round only brings programs and libraries into memory, and tells at once what is missing.
    for number in range(rounds + 1):
        random.shuffle(plan)
        for work, name in plan:
            if (work, name) in faults:
                continue
            contender = work.ours if name == "ours" else work.contenders[name]
            try:
                if number == 0:
                    work.prepare()
                    contender(3)
                    print(f"once, not counted: {work.work}: {name}", flush=True)
                    continue
                found = once(work, contender)
            except Missing as error:
                faults[work, name] = str(error)
                write(results, faults, output)
                print(f"{work.work}: {name}: {error}", flush=True)
                continue
            results.setdefault((work, name), []).append(found)
            print(f"round {number}: {work.work}: {name}: " + ", ".join(
                f"{used:.2f} s for {frames:.0f} frames" for used, frames in found), flush=True)
            write(results, faults, output)


if __name__ == "__main__":
    main()
