"""Scenes: consent and its end, the daemon's end, threads, loops, Ctrl-C, forks, the media library."""
import asyncio, gc, os, sys, threading, time, weakref

import capturekit
from capturekit import Code, State
from support import LIMIT, explain, it, mappings, raised, say, started, until


def undecided():
    with capturekit.connect() as client:
        it("the status is undecided", client.consent.status("camera") is capturekit.Status.NOT_DETERMINED)
        it("without a reason it may not ask", raised(client.consent.request, "camera").code is Code.MISSING_USAGE_DESCRIPTION)
        client.consent.explain("camera", "Tests it")
        error = raised(client.consent.request, "camera")
        it("without a person there is nobody to ask", isinstance(error, capturekit.NobodyToAsk) and error.exit_code == 75, error)
        session = client.session()
        session.add_camera()
        error = raised(session.__enter__)
        it("a start has nobody to ask, either", isinstance(error, capturekit.NobodyToAsk) and "ask" in str(error), error)
        it("and the session has failed", session.state is State.FAILED and session.reason.code is Code.NOBODY_TO_ASK)
        it("a service has no zero in it", raised(client.consent.status, "cam\0era").code is Code.INVALID_ARGUMENT)
        it("a request without a service is refused", raised(client.consent.request).code is Code.INVALID_ARGUMENT)


def denied():
    with capturekit.connect() as client:
        it("the status is denied", client.consent.status("camera") is capturekit.Status.DENIED)
        client.consent.explain("camera", "Tests it")
        it("a request is denied", isinstance(error := raised(client.consent.request, "camera", "microphone"), capturekit.Denied), error)
        error = raised(started, client)
        it("a start is, with the daemon's words", isinstance(error, capturekit.Denied) and error.exit_code == 77 and
           "denied the camera" in str(error), error)
        error = raised(lambda: client.controls("synthetic:camera")["gain"])
        it("a control is not permitted", error and error.code is Code.NOT_PERMITTED, error)


def withdrawn():
    with capturekit.connect() as client, client.controls("synthetic:camera").watch() as changes:
        session = client.session()
        session.add_camera()
        try:
            with session:
                for count, _ in enumerate(session.frames()):
                    if count == 5:
                        say("reading")
            it("it is told", False)
        except capturekit.Revoked as error:
            it("it is told", error.exit_code == 77, error)
        it("the state says the same", session.state.is_final and isinstance(session.reason, capturekit.Revoked), session.reason)
        it("a watch ends with it", isinstance(error := raised(changes.next, LIMIT), capturekit.Revoked), error)
        it("and stays at its end", changes.next(0.1) is None)


def suspended():
    with capturekit.connect() as client, started(client) as session:
        reader = session.frames()
        say("reading", reader.next(LIMIT).moves)
        it("switched off, it is suspended", until(lambda: session.state is State.SUSPENDED) and
           isinstance(session.reason, capturekit.SwitchedOff), session.state)
        say("suspended")
        frame = next(frame for frame in reader if frame.moves)
        it("it goes on in another ring", frame.array.shape == (480, 640, 2) and session.state is State.RUNNING, frame)


def killed():
    with capturekit.connect() as client:
        changes = client.watch_devices()
        status = client.library.status()
        try:
            with started(client) as session:
                for count, frame in enumerate(session.frames()):
                    if count == 5:
                        say("reading")
            it("a killed daemon is told of", False)
        except capturekit.Unreachable as error:
            it("a killed daemon is told of", "went away" in str(error) and error.exit_code == 69, error)
        it("the array is still there", frame.array.shape == (480, 640, 2) and int(frame.array.sum()) > 0)
        it("a watch ends, too", isinstance(error := raised(changes.next, LIMIT), capturekit.Unreachable), error)
        say("ended")
        sys.stdin.readline()
        session.start(LIMIT)
        it("the next daemon takes the same session", session.frames().next(LIMIT) is not None)
        it("and the same library", client.library.status() is status)


def nowhere():
    it("without a bus it is unreachable", isinstance(error := raised(capturekit.connect), capturekit.Unreachable), error)


def again(count):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    def once(client):
        with started(client) as session:
            reader, other = session.frames(), session.frames()
            other.fileno()
            frame = reader.next(LIMIT)
            held.append(frame.array)
            del held[:-3]

    held = []
    with capturekit.connect() as client:
        once(client)
        before, threads = descriptors(), threading.active_count()
        for _ in range(int(count)):
            once(client)
        it(f"{count} sessions leave no descriptor", descriptors() == before, (descriptors(), before))
        it("and no thread", threading.active_count() == threads)
        it("and no mapping but those of arrays", len(mappings()) == len(held), (mappings(), len(held)))
    held.clear()
    gc.collect()
    it("which go with them", mappings() == [])
    before = descriptors()
    for _ in range(20):
        with capturekit.connect() as client:
            client.session()
    it("connections leave no descriptor", descriptors() == before, (descriptors(), before))


def threads():
    with capturekit.connect() as client:
        session = client.session()
        session.add_camera(size=(640, 480), rate=60)
        session.add_microphone()
        with session:
            totals, problems = {}, []

            def read(kind, reader):
                try:
                    totals[kind] = sum(bool(item.array.size) for item, _ in zip(reader, range(60)))
                except Exception as error:
                    problems.append(error)

            workers = [threading.Thread(target=read, args=pair) for pair in
                       [("frames", session.frames()), ("samples", session.samples())]]
            shared = session.frames()
            seen = []
            workers += [threading.Thread(target=lambda: seen.extend(shared.next(LIMIT).sequence for _ in range(20))) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(LIMIT)
            it("two threads read at once", totals == {"frames": 60, "samples": 60} and not problems, (totals, problems))
            it("two share a reader, each frame once", len(seen) == 40 and len(set(seen)) == 40, seen)
        session.stop()
        # Waits of other threads, and how they end.
        quiet = client.session()
        quiet.add_camera()
        quiet.start(LIMIT)
        for what, end in [("cancel", lambda reader: reader.cancel()), ("close", lambda reader: reader.close())]:
            client.controls("synthetic:camera")["drop_every"] = 1
            reader, ended = quiet.frames(), []
            while reader.next(0.5):
                pass
            worker = threading.Thread(target=lambda: ended.append(reader.next()))
            worker.start()
            time.sleep(0.2)
            began = time.monotonic()
            end(reader)
            worker.join(LIMIT)
            it(f"{what} ends a wait of another thread", ended == [None] and time.monotonic() - began < 20, ended)
        client.controls("synthetic:camera")["drop_every"] = 0
        reader, ended = quiet.frames(), []
        worker = threading.Thread(target=lambda: ended.append(raised(lambda: [None for _ in reader])))
        worker.start()
        time.sleep(0.2)
        client.close()
        worker.join(LIMIT)
        it("the connection's end ends it, too", len(ended) == 1 and isinstance(ended[0], capturekit.Unreachable), ended)
        it("what is left says so", quiet.state is State.FAILED)


def loops():
    async def main():
        with capturekit.connect() as client:
            session = client.session()
            session.add_camera(size=(640, 480), rate=60)
            session.add_microphone()
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            async def read(items, count):
                found = []
                async for item in items:
                    found.append(item.sequence)
                    if len(found) == count:
                        break
                return found

            ticking = asyncio.create_task(tick())
            async with session:
                pictures, sounds = await asyncio.wait_for(
                    asyncio.gather(read(session.frames_async(), 60), read(session.samples_async(), 60)), LIMIT)
                it("two tasks read at once", len(pictures) == len(sounds) == 60 and pictures == sorted(set(pictures)))
                it("the loop goes on meanwhile", ticks > 10, ticks)
                # A task is cancelled while it waits.
                client.controls("synthetic:camera")["drop_every"] = 1
                reader = session.frames()
                while reader.next(0.5):
                    pass
                task = asyncio.create_task(read(reader, 10**6))
                await asyncio.sleep(0.2)
                task.cancel()
                it("a task can be cancelled", isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError))
                task = asyncio.create_task(read(reader, 10**6))
                await asyncio.sleep(0.2)
                reader.cancel()
                it("cancel ends it", await asyncio.wait_for(task, LIMIT) == [])
                client.controls("synthetic:camera")["drop_every"] = 0
                both = await asyncio.wait_for(asyncio.gather(read(reader, 5), read(reader, 5), return_exceptions=True), LIMIT)
                it("two tasks wait for one reader", all(type(each) is list and len(each) == 5 for each in both), both)
                task = asyncio.create_task(read(session.frames_async(), 10**6))
                await asyncio.sleep(0.3)
            it("a stop ends it", len(await asyncio.wait_for(task, LIMIT)) > 0)
            ticking.cancel()

            def begin():
                session = client.session()
                session.add_camera()
                session.start()
                return session.frames()

            with await asyncio.to_thread(begin) as reader:
                gc.collect()
                it("a session goes on as long as it is read", all(reader.next(LIMIT) for _ in range(10)), reader.is_at_end)
                session = weakref.ref(reader._session)
            gc.collect()
            it("and no longer", session() is None)

    asyncio.run(main())


def undone():
    """A start in a loop that is given up while a person is asked."""
    async def main():
        with capturekit.connect() as client:
            session = client.session()
            session.add_camera()

            async def start():
                async with session:
                    it("it does not start", False)

            task = asyncio.create_task(start())
            while session.state is not State.AUTHORIZING:
                await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            it("a start can be cancelled", task.cancelled())
            it("the question is withdrawn", await asyncio.to_thread(until, lambda: session.state.is_final), session.state)

    asyncio.run(main())


def interrupted(what):
    """Waits for something that does not come, until Ctrl-C."""
    client = capturekit.connect()
    session = client.session()
    session.add_camera()
    if what == "frame":
        session.start(LIMIT)
        client.controls("synthetic:camera")["drop_every"] = 1
        reader = session.frames()
        while reader.next(0.5):
            pass
    changes = client.watch_devices()
    waits = {"frame": lambda: reader.next(), "change": lambda: changes.next(), "start": session.start, "hung": client.devices,
             "request": lambda: client.consent.request("camera"), "photo": lambda: client.library.take_photo("no.jpg")}
    if what == "photo":
        explain(client)
    say("waiting")
    if what == "hung":
        sys.stdin.readline()
    began = time.monotonic()
    try:
        if what == "block":
            with session:
                for _ in session.frames():
                    pass
        waits[what]()
        it(f"{what} is interrupted", False)
    except KeyboardInterrupt:
        it(f"{what} is interrupted", True)
    say("interrupted")
    if what == "block":
        it("the block stops its session", session.state is State.STOPPED, session.state)
    if what in ("start", "request"):
        state = until(lambda: session.state.is_final) if what == "start" else True
        it("what was asked is given up", state, session.state)
    if what == "frame":
        client.controls("synthetic:camera")["drop_every"] = 0
        it("the reader reads on", reader.next(LIMIT) is not None)
        session.stop()
    if what == "hung":
        say("again")
        sys.stdin.readline()
    it("the connection is good afterwards", len(client.devices()) == 3)
    client.close()


def forks():
    client = capturekit.connect()
    session = started(client)
    reader = session.frames()
    frame = reader.next(LIMIT)
    child = os.fork()
    if not child:
        codes = [raised(client.devices), raised(reader.next), raised(session.stop)]
        good = all(error and error.code is Code.WRONG_STATE for error in codes)
        with capturekit.connect() as own:
            good = good and len(own.devices()) == 3
        session.close()
        reader.close()
        client.close()
        os._exit(0 if good else 1)
    it("a child connects anew", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)
    it("the parent reads on", reader.next(LIMIT).sequence > frame.sequence)
    client.close()


def library(folder):
    with capturekit.connect() as client:
        explain(client)
        library = client.library
        id = library.take_photo("first.jpg")
        it("a photo is taken into it", len(id or "") == 32, id)
        asset = library.get(id)
        it("an asset has its facts", (asset.name, asset.kind, asset.media_type) == ("first.jpg", "photo", "image/jpeg") and
           asset.width > 0 and abs(asset.created - time.time()) < 3600, asset)
        path = f"{folder}/first.jpg"
        library.export(id, path)
        with open(path, "rb") as file, library.open(id) as content:
            it("an export is the content", file.read() == content.read() and os.path.getsize(path) == asset.size)
        error = raised(library.export, id, path)
        it("an export replaces nothing", error.code is Code.INPUT_OUTPUT, error)
        it("a thumbnail is a JPEG", library.thumbnail(id)[:2] == b"\xff\xd8")
        second = library.add(path, name="second.jpg", created=1_000_000_000, is_favourite=True)
        with open(path, "rb") as file:
            third = library.add(file, name="third.jpg")
        it("a file is added", library.get(second).created == 1_000_000_000 and library.get(second).is_favourite)
        it("so is an open one", library.get(third).name == "third.jpg")
        names = [one.name for one in library.list(order="added")]
        it("they are listed, the newest first", names == ["third.jpg", "second.jpg", "first.jpg"], names)
        it("a list has a limit", len(list(library.list(limit=2))) == 2 and not list(library.list(["movie"])) and
           [one.name for one in library.list(is_favourite=True)] == ["second.jpg"])
        it("what is not there is told", raised(library.get, "0" * 32).code is Code.NO_SUCH_ASSET)
        it("no such file is told", raised(library.add, f"{folder}/nothing").code is Code.INPUT_OUTPUT)
        it("a file of another kind is refused", raised(library.add, __file__).code is Code.BAD_DATA)
        it("picking has nobody to ask", isinstance(error := raised(library.pick), capturekit.NobodyToAsk), error)
    it("it is closed with the connection", raised(library.status).code is Code.WRONG_STATE)


def gone():
    """The daemon goes while the person is asked."""
    with capturekit.connect() as client:
        explain(client)
        say("waiting")
        error = raised(client.library.take_photo, "no.jpg")
        it("the library tells that the daemon went", isinstance(error, capturekit.Unreachable) and "went away" in str(error), error)


def added(path):
    """May only add."""
    with capturekit.connect() as client:
        client.consent.explain("library-add", "Tests it")
        client.consent.explain("library-read-write", "Tests it")
        library = client.library
        it("who may only add gets no id", library.add(path) is None)
        it("and finds nothing", list(library.list()) == [] and library.status().name == "DENIED", library.status())


def readless(path):
    """May neither add nor read."""
    with capturekit.connect() as client:
        library = client.library
        it("a no is no to adding", isinstance(error := raised(library.add, path), capturekit.Denied), error)
        it("and an empty list", list(library.list()) == [] and library.status().name == "DENIED", library.status())
