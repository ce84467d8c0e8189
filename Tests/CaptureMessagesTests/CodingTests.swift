import CaptureBus
import CaptureCore
import CaptureMessages
import CaptureSystem
import Testing

private let session = SessionDescription(
    inputs: [
        InputDescription(name: "camera", mediaType: .video, device: "v4l2:usb-cam"),
        InputDescription(
            name: "exact",
            mediaType: .video,
            video: VideoFormatRequest(
                pixelFormat: .yuyv,
                width: 640,
                height: 480,
                framesPerSecond: 29.97,
                isExact: true
            )
        ),
        InputDescription(name: "any", mediaType: .video, video: VideoFormatRequest()),
        InputDescription(name: "photo", mediaType: .video, video: Preset.photo.request),
        InputDescription(
            name: "microphone",
            mediaType: .audio,
            audio: AudioFormatRequest(sampleFormat: .s24Packed, sampleRate: 44100, channels: 1, isExact: true)
        ),
    ],
    outputs: [
        OutputDescription(
            name: "movie",
            kind: .movie,
            format: "mp4",
            videoCodec: "h264",
            audioCodec: "aac",
            videoBitRate: 4_000_000,
            duration: 5_000_000_000,
            frameCount: 12,
            maxFileSize: 5_000_000,
            minFreeSpace: 1 << 40,
            fragmentInterval: 5_000_000_000,
            tags: [.title: "Lecture", .location: "+48+011/"]
        ), OutputDescription(name: "ring", kind: .buffer, format: ""),
        OutputDescription(
            name: "shot",
            kind: .photo,
            format: "png",
            library: LibraryDestination(name: "a.png", album: "Trip")
        ), OutputDescription(name: "any", kind: .sound, format: "wav", library: LibraryDestination()),
    ],
    connections: [
        ConnectionDescription(input: "camera", output: "movie"),
        ConnectionDescription(input: "microphone", output: "movie"),
        ConnectionDescription(input: "camera", output: "ring"),
    ],
    isAttached: true
)

/// The description with one key of its first input, output or itself replaced.
private func changed(_ part: String?, _ key: String, _ value: BusValue?) -> BusValue {
    var values = session.busValue.properties ?? [:]
    guard let part else {
        values[key] = value
        return .properties(values)
    }
    var parts = values[part]?.elements ?? []
    var first = parts[0].properties ?? [:]
    first[key] = value
    parts[0] = .properties(first)
    values[part] = .array("a{sv}", parts)
    return .properties(values)
}

struct CodingTests {
    @Test func `what becomes of pictures and sound on their way survives, and is refused with what would be right`()
        throws
    {
        var turned = session
        turned.outputs[0].settings.rotation = 90
        turned.outputs[0].settings.isMirrored = true
        turned.outputs[0].settings.channels = [1, 0]
        turned.outputs[0].settings.gain = -4.5
        #expect(try SessionDescription(busValue: turned.busValue) == turned)
        #expect(session.busValue.properties?["outputs"]?.elements?[0].properties?["rotation"] == nil)
        for (key, value, right) in [
            ("rotation", BusValue.uint32(45), "0, 90, 180 or 270"), ("gain", .double(40.5), "-60 to 40"),
            ("gain", .double(.nan), "-60 to 40"), ("gain", .string("loud"), "decibels"),
            ("channels", .array("u", [.uint32(1), .uint32(1)]), "twice"),
            ("channels", .array("u", (0...64).map { .uint32($0) }), "64"),
            ("channels", .array("u", [.uint32(256)]), "255"),
            ("channels", .array("s", [.string("left")]), "au"),
        ] {
            let error = #expect(throws: CaptureError.self) {
                try SessionDescription(busValue: changed("outputs", key, value))
            }
            #expect(
                error?.code == .invalidArgument && error?.message.contains(right) == true,
                "\(key): \(error as Any)"
            )
        }
    }

    @Test func `tags are texts by known names, each once`() {
        func tags(_ entries: [(String, BusValue)], _ type: String = "ss") -> BusValue {
            changed("outputs", "tags", .dictionary(type, entries.map { BusEntry(.string($0.0), $0.1) }))
        }
        for (wrong, said) in [
            (tags([("mood", .string("good"))]), "title, desc"),
            (tags([("title", .string("a")), ("title", .string("b"))]), "without 'title' twice"),
            (tags([("title", .string(String(repeating: "x", count: 1001)))]), "1000 bytes for 'title'"),
            (tags([("title", .int64(1))], "sx"), "title, desc"),
            (changed("outputs", "tags", .string("title")), "title, desc"),
        ] {
            let error = #expect(throws: CaptureError.self) { try SessionDescription(busValue: wrong) }
            #expect(error?.code == .invalidArgument && error?.message.contains(said) == true, "\(said)")
        }
    }

    @Test func `levels survive, and what cannot be a level is refused`() throws {
        let levels = [AudioLevel(average: -12.04, peak: 0), AudioLevel()]
        #expect(try [AudioLevel](busValue: levels.busValue) == levels)
        for wrong in [
            BusValue.string("loud"), .array("(dd)", [.structure([.double(1)])]),
            .array("(dd)", [.structure([.double(-161), .double(0)])]),
            .array("(dd)", [.structure([.double(.nan), .double(0)])]),
            .array("(dd)", (0..<65).map { _ in .structure([.double(0), .double(0)]) }),
        ] {
            #expect(throws: CaptureError.self) { try [AudioLevel](busValue: wrong) }
        }
    }

    @Test func `an input of metadata comes back, and takes no format`() throws {
        var told = session
        told.inputs.append(InputDescription(name: "words", mediaType: .metadata, device: "v4l2:x"))
        #expect(try SessionDescription(busValue: told.busValue) == told)
        var words = told.inputs[told.inputs.count - 1].busValue.properties ?? [:]
        words["width"] = .uint32(640)
        #expect(throws: CaptureError.self) { try InputDescription(busValue: .properties(words)) }
    }

    @Test func `a session comes back as it was described`() throws {
        #expect(try SessionDescription(busValue: session.busValue) == session)
    }

    @Test func `a device with every kind of size and interval comes back as it was`() throws {
        let thirty = FrameInterval(framesPerSecond: 30)
        let device = DeviceDescription(
            id: DeviceID(rawValue: "v4l2:usb-046d:0"),
            mediaType: .video,
            name: "HD Webcam",
            aliases: ["/dev/video0"],
            driver: "uvcvideo",
            bus: "usb-0000:00:14.0-1",
            deviceType: .captureCard,
            position: .back,
            videoFormats: [
                VideoFormatOption(
                    pixelFormat: .mjpeg,
                    name: "Motion-JPEG",
                    isEmulated: true,
                    sizes: .discrete([
                        DiscreteSize(
                            width: 1280,
                            height: 720,
                            intervals: .discrete([thirty, FrameInterval(1001, 30000)])
                        ),
                        DiscreteSize(width: 1, height: 1, intervals: .discrete([])),
                    ])
                ),
                VideoFormatOption(
                    pixelFormat: PixelFormat(rawValue: 0x8000_0102),
                    name: "odd",
                    sizes: .stepwise(
                        StepwiseSize(
                            width: (2, 4096, 2),
                            height: (1, 2160, 1),
                            intervals: .range(shortest: thirty, longest: FrameInterval(1, 1), step: nil)
                        )
                    )
                ),
                VideoFormatOption(
                    pixelFormat: .nv12,
                    name: "",
                    sizes: .discrete([
                        DiscreteSize(
                            width: 4,
                            height: 4,
                            intervals: .range(shortest: thirty, longest: FrameInterval(1, 1), step: thirty)
                        )
                    ])
                ),
            ]
        )
        #expect(try DeviceDescription(busValue: device.busValue) == device)
        var teller = device
        teller.metadata = DeviceMetadata(node: "/dev/video1", formats: [.uvcD4XX, PixelFormat(rawValue: 0x8000_0102)])
        #expect(try DeviceDescription(busValue: teller.busValue) == teller)
        let microphone = DeviceDescription(
            id: DeviceID(rawValue: "alsa:x"),
            mediaType: .audio,
            name: "Mic",
            aliases: [],
            driver: "snd",
            bus: "",
            audioFormats: [AudioFormatOption(sampleFormats: ["S16_LE"], rates: 8000...192000, channels: 1...2)]
        )
        let list = BusValue.list([device, microphone])
        #expect(try list.list(of: DeviceDescription.self) == [device, microphone])
    }

    @Test func `controls and counters come back as they were`() throws {
        let control = DeviceControl(
            id: .max,
            name: "white_balance",
            label: "White Balance",
            kind: .menu,
            minimum: -1,
            maximum: .max,
            step: 1,
            defaultValue: 0,
            value: 2,
            unit: "K",
            choices: [0: "Auto", -1: "Off"],
            flags: [.readOnly, .volatile]
        )
        #expect(try DeviceControl(busValue: control.busValue) == control)
        let sensor = PixelRectangle(width: 1920, height: 1080)
        let crop = try #require(DeviceControl.crop(sensor, bounds: sensor, standard: sensor))
        #expect(try DeviceControl(busValue: crop.busValue) == crop)
        var statistics = SessionStatistics()
        statistics.elapsed = 5
        var input = InputStatistics()
        input.device = "synthetic:camera"
        input.published = .max
        input.drops = ["overrun": 3]
        input.latency = -4
        input.queueDepth = 2
        input.copiedBytes = 7
        statistics.inputs["camera"] = input
        var output = OutputStatistics()
        output.frames = 1
        output.bytes = .max
        output.drift = -100
        output.videoEncoder = "libx264"
        output.encoderPreset = "superfast"
        output.reachedLimit = .freeSpace
        output.preRollIsFull = true
        statistics.outputs["movie"] = output
        output.pictures = [CapturedPicture(time: -1, lostBefore: .max, bytes: 7)]
        statistics.outputs["photo.1"] = output
        #expect(try SessionStatistics(busValue: statistics.busValue) == statistics)
    }

    @Test func `the settings of photos read back, and most may be absent`() throws {
        for settings in [
            PhotoSettings(), PhotoSettings(format: "png", quality: 1, burst: 16, sizeLimit: 5),
            PhotoSettings(library: LibraryDestination(name: "a", album: "b")),
            PhotoSettings(format: "dng", burst: 8, companion: "jpeg"),
            PhotoSettings(format: "dng", companion: "jpeg", library: LibraryDestination(name: "a.dng")),
            PhotoSettings(bracket: [-1, 0, 1.5], flash: .on), PhotoSettings(flash: .off),
            PhotoSettings(size: PictureSize(width: 1920, height: 1 << 20)),
        ] { #expect(try PhotoSettings(busValue: settings.busValue) == settings) }
        #expect(try PhotoSettings(busValue: .properties([:])) == PhotoSettings())
        let wrong: [(String, BusValue)] = [
            ("burst", .uint32(0)), ("burst", .uint32(17)), ("quality", .uint32(0)), ("format", .string("gif")),
            ("size-limit", .int64(-1)), ("companion", .string("tiff")), ("companion", .uint32(1)),
            ("flash", .bool(true)),
            ("flash", .string("auto")), ("bracket", .array("d", [.double(.nan)])),
            ("bracket", .array("d", [.double(-8.1)])), ("bracket", .array("i", [.int32(1)])),
            ("bracket", .array("d", [BusValue](repeating: .double(0), count: 17))), ("bracket", .double(1)),
            ("shutter", .bool(true)), ("width", .uint32(0)), ("width", .int64(-1)), ("height", .uint32(1 << 31)),
            ("height", .string("1080")),
        ]
        for (key, value) in wrong {
            let error = #expect(throws: CaptureError.self) { try PhotoSettings(busValue: .properties([key: value])) }
            #expect(error?.message.contains("'\(key)'") == true, "\(key): \(error?.message ?? "")")
        }
        // A width takes a height.
        for (key, other) in [("width", "height"), ("height", "width")] {
            let half = BusValue.properties([key: .uint32(640)])
            let error = #expect(throws: CaptureError.self) { try PhotoSettings(busValue: half) }
            #expect(error?.message.contains("lacks '\(other)'") == true)
        }
    }

    @Test func `a camera of which nothing is asked gets the preset high`() throws {
        let bare = BusValue.properties(["name": .string("c"), "media-type": .string("video")])
        #expect(try InputDescription(busValue: bare).video == Preset.high.request)
        let preset = BusValue.properties([
            "name": .string("c"), "media-type": .string("video"), "preset": .string("low"),
        ])
        #expect(try InputDescription(busValue: preset).video == Preset.low.request)
    }

    @Test(
        arguments: [
            (nil, "colour", .string("red"), "'colour'"), (nil, "inputs", .string("x"), "'inputs'"),
            (nil, "attached", .string("yes"), "'attached'"),
            ("inputs", "name", .string("../etc"), "'name'"), ("inputs", "name", .string(""), "'name'"),
            ("inputs", "name", .string(String(repeating: "a", count: 65)), "'name'"), ("inputs", "name", nil, "'name'"),
            ("inputs", "name", .string("exact"), "two inputs named 'exact'"),
            ("inputs", "media-type", .string("smell"), "video, depth, audio"),
            ("inputs", "width", .uint32(0), "'width'"),
            ("inputs", "width", .int32(-1), "'width'"), ("inputs", "width", .string("640"), "'width'"),
            ("inputs", "height", .uint64(.max), "'height'"),
            ("inputs", "frames-per-second", .double(.nan), "'frames-per-second'"),
            ("inputs", "frames-per-second", .double(.infinity), "'frames-per-second'"),
            ("inputs", "pixel-format", .string("toolong"), "'pixel-format'"),
            ("inputs", "preset", .string("low"), "'preset'"),
            ("inputs", "sample-rate", .uint32(48000), "'sample-rate'"),
            ("inputs", "device", .string(""), "'device'"),
            ("outputs", "format", .string("avi"), "mkv, mp4, mov"), ("outputs", "quality", .uint32(101), "'quality'"),
            ("outputs", "kind", .string("dance"), "'kind'"), ("outputs", "video-codec", .string("x"), "'video-codec'"),
            ("outputs", "duration", .int64(-1), "'duration'"), ("outputs", "name", .string("other"), "output 'movie'"),
        ] as [(String?, String, BusValue?, String)]
    )
    func `a fault names its key`(_ part: String?, _ key: String, _ value: BusValue?, _ expected: String) {
        let error = #expect(throws: CaptureError.self) {
            try SessionDescription(busValue: changed(part, key, value))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func `sixteen inputs are the most`() {
        let inputs = (0..<17).map { InputDescription(name: "i\($0)", mediaType: .audio) }
        let many = SessionDescription(inputs: inputs, outputs: [], connections: [])
        #expect(throws: CaptureError.self) { try SessionDescription(busValue: many.busValue) }
    }

    @Test func `files are named after outputs, each once`() throws {
        let entry = BusEntry(.string("movie"), .string("3.1"))
        #expect(try BusValue.dictionary("ss", [entry]).tickets() == ["movie": "3.1"])
        #expect(throws: CaptureError.self) { try BusValue.dictionary("ss", [entry, entry]).tickets() }
        #expect(throws: CaptureError.self) { try BusValue.string("").tickets() }
        let many = (0..<17).map { BusEntry(.string("m\($0)"), .string("3.\($0)")) }
        #expect(throws: CaptureError.self) { try BusValue.dictionary("ss", many).tickets() }
    }

    @Test func `paths of sessions and devices are those of the reference`() {
        #expect(CaptureNames.sessionNumber(CaptureNames.sessionPath(42)) == 42)
        for path in ["\(CaptureNames.sessions)/042", "\(CaptureNames.sessions)/", "/42", "\(CaptureNames.sessions)/+1"]
        {
            #expect(CaptureNames.sessionNumber(path) == nil)
        }
        #expect(
            CaptureNames.devicePath(DeviceID(rawValue: "v4l2:usb-1_a")) == CaptureNames.devices + "/v4l2_3ausb_2d1_5fa"
        )
        #expect(CaptureNames.devicePath(DeviceID(rawValue: "4")) == CaptureNames.devices + "/_34")
    }
}
