"""Scenes: devices, frames, sound and controls."""
import gc, sys, time

import capturekit
from capturekit import Code, State
from support import LIMIT, it, mappings, raised, started, until


def devices():
    with capturekit.connect() as client:
        found = {device.id: device for device in client.devices()}
        it("lists the devices", set(found) == {"synthetic:camera", "synthetic:depth", "synthetic:microphone"}, found)
        camera, microphone = found["synthetic:camera"], found["synthetic:microphone"]
        it("a camera has its position, connection and type", (camera.position, camera.connection, camera.type, camera.name) ==
           ("unspecified", "synthetic", "synthetic", "Synthetic Camera"), camera)
        it("a camera has no sound", camera.is_camera and not camera.is_microphone and not camera.audio_formats)
        formats = {one.pixel_format: one for one in camera.video_formats}
        it("formats have their four letters", {"YUYV", "NV12", "YU12", "RGGB", "RG10"} <= set(formats), set(formats))
        sizes = {size.size: size for size in formats["YUYV"].sizes}
        it("sizes have their rates", set(sizes) >= {(320, 240), (1920, 1080)} and sizes[320, 240].rates == (60.0, 30.0, 15.0), sizes)
        sound = microphone.audio_formats[0]
        it("sound has its formats", sound.sample_formats == (capturekit.SampleFormat.S16_LE, capturekit.SampleFormat.FLOAT_LE) and
           sound.channels.most == 2 and microphone.is_microphone, sound)
        it("cameras and microphones are told apart", len(client.cameras()) == 2 and len(client.microphones()) == 1)
        with client.watch_devices() as changes:
            it("nothing changes by itself", changes.next(0.3) is None)
    it("a closed connection says so", raised(client.devices).code is Code.WRONG_STATE)


BARS = [180, 162, 131, 112, 84, 65, 35]


def has_bars(luma):
    """The seven upper bars, or the flash of a full second."""
    height, width = luma.shape[:2]
    row = luma[height // 3, width // 14::width // 7][:7].tolist()
    return row == BARS or row == [235] * 7


def frames():
    import numpy
    with capturekit.connect() as client:
        error = raised(lambda: started(client, size=(333, 240), exact=True))
        it("an exact format that is not there is refused", isinstance(error, capturekit.NoSuchFormat), error)
        it("numbers that cannot be are refused", raised(lambda: started(client, size=(-1, 2))).code is Code.INVALID_ARGUMENT)
        session = started(client, rate=30)
        reader = session.frames()
        last, good, whole = None, 0, 0
        for frame in reader:
            array = frame.array
            if last is None:
                it("a frame has its format", (frame.format.pixel_format, frame.format.width, frame.format.height, frame.format.rate) ==
                   ("YUYV", 640, 480, 30.0), frame.format)
                it("an array is shaped as the picture", array.shape == (480, 640, 2) and array.dtype == numpy.uint8, array.shape)
                address = array.__array_interface__["data"][0]
                it("its address lies in the ring, which is mapped to be read", mappings(address) == ["r--s"], mappings())
                it("it is only to be read", not array.flags.writeable and array.__array_interface__["data"][1])
                for write in [lambda: array.__setitem__((0, 0, 0), 1), lambda: array.setflags(write=True),
                              lambda: frame.memory[0].__setitem__(0, 1)]:
                    try:
                        write()
                        it("writing is refused", False, array.flags)
                    except (ValueError, TypeError):
                        it("writing is refused", True)
                it("two looks at a frame share memory", numpy.shares_memory(array, frame.array))
                it("the bytes are there, too", frame.memory[0].nbytes == 640 * 480 * 2 and frame.memory[0].readonly)
                copy = frame.copy()
                it("a copy has memory of its own", copy.is_copy and not frame.is_copy and
                   not mappings(copy.array.__array_interface__["data"][0]) and copy.format == frame.format)
            else:
                good += frame.sequence == last.sequence + 1 + frame.missed and frame.timestamp > last.timestamp
            pictured = has_bars(array[..., 0])
            whole += frame.is_intact() and pictured and frame.published >= frame.timestamp
            last = frame
            if frame.sequence >= 60:
                break
        it("each follows the one before", good >= 30, good)
        it("all show the bars", whole >= good - 2, (whole, good))
        # Cb and Cr of the blue bar, at its even and odd pixels.
        blue = array[160, 640 * 13 // 14 // 2 * 2:][:2, 1].tolist()
        it("the last bar is blue", blue == [212, 114] or array[160, 0, 0] == 235, blue)
        it("times are those of the monotonic clock", 0 < time.monotonic_ns() - last.timestamp < 10**9 * LIMIT)
        counters = reader.counters
        it("the counters count", counters.published > 60 and set(counters.drops) >= {"overrun", "paused"}, counters)
        newest = reader.newest(LIMIT)
        it("the newest passes over others", newest.sequence >= last.sequence, (newest, last))
        # The ring goes around while the frame is held.
        it("an overwritten frame is not intact", until(lambda: reader.next(1) and not frame.is_intact()))
        it("the copy is", copy.is_intact() and has_bars(copy.array[..., 0]))
        other = session.frames()
        it("a time limit is one", other.next(0) is None and (began := time.monotonic()) and other.next(LIMIT) and
           time.monotonic() - began < LIMIT / 2)
        it("another kind of input is refused", raised(session.samples, "camera").code is Code.INVALID_ARGUMENT)
        session.stop()
        while reader.next() is not None:
            pass
        it("after the stop comes the end", reader.is_at_end and list(reader) == [] and session.state is State.STOPPED)
        it("the end is no fault", session.reason is None)
        with session:
            it("it starts again", session.frames().next(LIMIT).array.shape == (480, 640, 2))
    del session, reader, other, frame, last, newest, counters
    gc.collect()
    it("an array outlives its frame and the connection", len(mappings(address)) == 1 and int(array.sum()) > 0, mappings())
    del array
    gc.collect()
    it("the memory goes with the last array", mappings() == [], mappings())


def formats():
    import numpy
    with capturekit.connect() as client:
        def first(**wishes):
            with started(client, exact=True, **wishes) as session:
                for frame in session.frames():
                    if frame.is_intact():
                        return frame.copy()

        frame = first(pixel_format="NV12")
        luma, colours = frame.planes
        it("NV12 has a plane of luma and one of colours", luma.shape == (480, 640) and colours.shape == (240, 320, 2), frame.planes)
        it("NV12 shows the bars", has_bars(luma), luma[160, ::91])
        it("NV12 is no single array", raised(lambda: frame.array).code is Code.INVALID_ARGUMENT)
        blue = colours[80, 320 * 13 // 14].tolist()
        it("its last bar is blue", blue == [212, 114] or luma[160, 0] == 235, blue)
        frame = first(pixel_format="YU12")
        luma, cb, cr = frame.planes
        it("YU12 has three planes", (luma.shape, cb.shape, cr.shape) == ((480, 640), (240, 320), (240, 320)))
        it("YU12 shows the bars", has_bars(luma) and ((cb[80, 297], cr[80, 297]) == (212, 114) or luma[160, 0] == 235), cb[80, 297])
        frame = first(pixel_format="RGGB")
        it("a Bayer pattern is a number a pixel", frame.array.shape == (480, 640) and frame.array.dtype == numpy.uint8)
        wide = first(pixel_format="RG10").array
        it("with ten bits it is of 16", wide.shape == (480, 640) and wide.dtype == numpy.uint16 and wide.max() < 1024 and
           wide.max() > 255, wide.dtype)
        packed = first(pixel_format="pRAA")
        it("packed bits are bytes", packed.array.shape == (640 * 480 * 5 // 4,), packed.array.shape)
        depth = first(device="synthetic:depth", pixel_format="Z16").array
        it("depth is in millimetres", depth.dtype == numpy.uint16 and depth.ndim == 2 and 100 < depth.max() < 20000, depth.shape)
    shapes()


def shapes():
    """Frames that no synthetic camera has."""
    from capturekit import _pixels

    def planes(name, width, height, sizes, strides):
        memory = [memoryview(bytes(index % 251 for index in range(size))).toreadonly() for size in sizes]
        return _pixels.planes(name, width, height, memory, strides)

    rgb, = planes("RGB3", 4, 3, [16 * 3], [16])
    it("RGB3 with rows of another length", rgb.shape == (3, 4, 3) and rgb[1, 0, 0] == 16 and rgb[2, 3, 2] == 43, rgb)
    luma, colours = planes("NV12", 4, 4, [8 * 6], [8])
    it("NV12 with longer rows", luma[3, 3] == 27 and colours.shape == (2, 2, 2) and colours[1, 1, 1] == 43, colours)
    luma, colours = planes("NM12", 4, 4, [16, 8], [4, 4])
    it("NM12 in two memory planes", luma[3, 3] == 15 and colours[1, 1, 1] == 7)
    y, u, v = planes("YU12", 5, 3, [8 * 3 + 4 * 2 * 2], [8])
    it("YU12 of an odd size", u.shape == (2, 3) and u[0, 0] == 24 and v[0, 0] == 32, u)
    luma, colours = planes("NV24", 2, 2, [4 + 8], [2])
    it("NV24", colours.shape == (2, 2, 2) and colours[1, 1, 1] == 11)
    luma, colours = planes("P010", 2, 2, [8 + 4], [4])
    it("P010", luma.dtype.itemsize == 2 and colours.shape == (1, 1, 2))
    cut, = planes("RGB3", 4, 3, [20], [12])
    it("a frame that was cut short is its bytes", cut.shape == (20,))
    odd, = planes("MJPG", 4, 3, [33], [0])
    it("a compressed frame is its bytes", odd.shape == (33,) and not odd.flags.writeable)
    it("a format without a name has a number that is taken back", all(
        capturekit.devices.fourcc(capturekit.devices.fourcc_name(code)) == code for code in [0x1F, 0x80FFFF41, 0xFFFFFFFF]))
    it("all names are formats", all(capturekit.devices.fourcc_name(capturekit.devices.fourcc(name)) == name for name in _pixels.SHAPES))


def bare():
    """Without numpy."""
    sys.modules["numpy"] = None
    with capturekit.connect() as client, started(client) as session:
        frame = session.frames().next(LIMIT)
        it("bytes need no numpy", frame.memory[0].nbytes == 640 * 480 * 2 and frame.memory[0][0] in range(256))
        it("a copy needs none", frame.copy().memory[0].nbytes == 640 * 480 * 2)
        try:
            frame.array
            it("an array does", False)
        except ImportError as error:
            it("an array does", "numpy" in str(error), error)


def sound():
    import numpy
    with capturekit.connect() as client:
        session = client.session()
        it("an input has a name", session.add_microphone(rate=48000, channels=1, exact=True) == "microphone")
        with session:
            position, loud, count, heard = None, 0, 0, 0
            for period in session.samples():
                array = period.array
                if position is None:
                    it("sound is samples by channels", array.shape == (len(period), 1) and array.dtype == numpy.int16 and len(period) > 0)
                    it("sound is where it lies", mappings(array.__array_interface__["data"][0]) == ["r--s"] and not array.flags.writeable)
                    it("sound has its format", (period.format.rate, period.format.channels, period.format.sample_format) ==
                       (48000, 1, capturekit.SampleFormat.S16_LE), period.format)
                    copy = period.copy()
                    it("a copy has the same samples", numpy.array_equal(copy.array, array) and len(copy) == len(period))
                elif not period.missed and not period.lost and period.position != position:
                    it("positions go on", False, (period.position, position))
                if period.missed or period.lost:
                    loud = count = 0
                loud += int((abs(array.astype(int)) > 1000).sum())
                count, position, heard = count + len(period), period.position + len(period), heard + len(period)
                # A machine that is held up loses sound, and may have lost a beep: then it is counted anew.
                if capturekit.Flags.SILENCE in period.flags or not period.is_intact():
                    loud = count = 0
                if count >= 96000 or heard > 48000 * LIMIT / 2:
                    break
            # 50 ms of a tone in each second.
            it("the tone is heard", 30 < loud * 1000 / max(count, 1) < 60, (loud, count))
        session = client.session()
        session.add_microphone(sample_format=capturekit.SampleFormat.FLOAT_LE, exact=True)
        with session:
            array = session.samples().next(LIMIT).array
            it("floating point is 32 bits", array.dtype == numpy.float32 and array.shape[1] == 2 and abs(array).max() <= 1, array)


def controls():
    with capturekit.connect() as client, capturekit.connect() as other:
        camera = client.cameras()[0]
        settings = client.controls(camera)
        it("controls have names and values", settings["drop_every"] == 0 and "gain" in settings and len(settings) == len(list(settings)))
        info = settings.info("power_line_frequency")
        it("a menu has its choices", info.kind is capturekit.ControlKind.MENU and len(info.choices) > 1, info)
        it("one that is not there is a KeyError", "nothing" not in settings and settings.get("nothing") is None)
        error = raised(settings.__setitem__, "nothing", 1)
        it("it cannot be set", error.code is Code.INVALID_ARGUMENT, error)
        it("nor beyond its range", raised(settings.__setitem__, "drop_every", 10**6).code is Code.INVALID_ARGUMENT)
        it("nor beyond 64 bits", raised(settings.__setitem__, "drop_every", 2**63).code is Code.INVALID_ARGUMENT)
        with settings.watch() as changes:
            other.controls(camera.id)["drop_every"] = 1000
            it("another's change is told", (change := changes.next(LIMIT)) == ("drop_every", 1000), change)
            settings["drop_every"] = 0
            it("an own one, too", next(changes) == ("drop_every", 0))
            it("then nothing", changes.next(0.2) is None)
        it("and it is so", settings["drop_every"] == 0)
        error = raised(lambda: client.controls("nowhere")["gain"])
        it("a device that is not there has none", isinstance(error, capturekit.NoSuchDevice), error)
