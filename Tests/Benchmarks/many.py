"""Many cameras at one time."""
from native import RATE, Missing
from works import EACH, Work, stream

CAMERAS = 16


def cameras(count, mode="look", size="1280x720"):
    """Processor time for each frame of each camera, all of them together."""
    def contender(contender):
        contender.environment["BENCH_CAMERA_COUNT"] = str(count)
        contender.serve()
        if len(contender.devices) != count:
            raise Missing(f"captured finds {len(contender.devices)} of {count} cameras")
        for device in contender.devices:
            contender.start("capture-bench-reader", device, f"YUYV:{size}@{RATE}", 1, 600, mode, camera=False)
        found = stream(contender, lambda: contender.words(1 << 20).splitlines().count("running") == count)
        return {EACH: found[EACH] / count}

    return contender


WORKS = [
    Work(f"{CAMERAS} cameras of raw 720p, each frame is noted", {EACH: 1.05}, peer="one camera", ours=cameras(CAMERAS),
         **{"one camera": cameras(1)}),
]
