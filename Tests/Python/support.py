"""What the scenes share."""
import time

import capturekit

# How long things may take on a busy machine, in seconds.
LIMIT = 240


def it(what, holds, why=""):
    print(f"ok {what}" if holds else f"not ok: {what}: {why!r}".replace("\n", " "), flush=True)


def say(*words):
    print(*words, flush=True)


def raised(work, *arguments):
    """The error that it ends with."""
    try:
        work(*arguments)
    except capturekit.CaptureError as error:
        return error
    return None


def until(holds):
    end = time.monotonic() + LIMIT
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def mappings(address=None):
    """The rings that are mapped, or the rights of the one with this address."""
    found = []
    with open("/proc/self/maps") as file:
        lines = file.readlines()
    for line in lines:
        if "memfd:captured" in line:
            first, last = (int(word, 16) for word in line.split()[0].split("-"))
            found += [line.split()[1]] if address is None or first <= address < last else []
    return found


def started(client, **wishes):
    session = client.session()
    session.add_camera(**{"size": (640, 480), **wishes})
    session.start(LIMIT)
    return session


def explain(client):
    for service in ["camera", "library-add", "library-read-write"]:
        client.consent.explain(service, "Tests it")
