public import CaptureBus
public import CaptureCore

extension SessionDescription: BusCodable {
    /// `inputs` aa{sv}, `outputs` aa{sv}, `connections` a(ss) of input and output, `attached` b (false),
    /// `question` s (none).
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the session")
        let inputs = try reader.list("inputs", most: CodingLimits.mostParts, InputDescription.self) ?? []
        let outputs = try reader.list("outputs", most: CodingLimits.mostParts, OutputDescription.self) ?? []
        let connections = try reader.connections()
        let isAttached = try reader.flag("attached") ?? false
        let question = try reader.text("question", longest: 64)
        try reader.end()
        try SessionDescription.checkNames(inputs.map(\.name), "input", connections.map(\.input))
        try SessionDescription.checkNames(outputs.map(\.name), "output", connections.map(\.output))
        self.init(inputs: inputs, outputs: outputs, connections: connections, isAttached: isAttached)
        self.question = question
    }

    private static func checkNames(_ names: [String], _ what: String, _ used: [String]) throws(CaptureError) {
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw CaptureError(.invalidArgument, "the session has two \(what)s named '\(name)'")
        }
        for name in used where !names.contains(name) {
            throw CaptureError(.invalidArgument, "a connection names the \(what) '\(name)', which is not there")
        }
    }

    /// The description as `a{sv}`.
    public var busValue: BusValue {
        var properties: [String: BusValue] = [
            "inputs": .list(inputs),
            "outputs": .list(outputs),
            "connections": .array(
                "(ss)",
                connections.map { .structure([.string($0.input), .string($0.output)]) }
            ),
            "attached": .bool(isAttached),
        ]
        if let question { properties["question"] = .string(question) }
        return .properties(properties)
    }
}

extension PropertyReader {
    fileprivate mutating func tags() throws(CaptureError) -> [FileTag: String] {
        guard let value = take("tags") else { return [:] }
        let names = FileTag.allCases.map(\.rawValue).joined(separator: ", ")
        guard case .dictionary("ss", let entries) = value else {
            throw fault("tags", "of type 'a{ss}': texts by \(names)")
        }
        var tags: [FileTag: String] = [:]
        for entry in entries {
            guard let tag = FileTag(rawValue: entry.key.text ?? "") else {
                throw fault("tags", "texts by known names: \(names)")
            }
            guard let text = entry.value.text, text.utf8.count <= FileTag.longest else {
                throw fault("tags", "a text of at most \(FileTag.longest) bytes for '\(tag.rawValue)'")
            }
            guard tags.updateValue(text, forKey: tag) == nil else {
                throw fault("tags", "without '\(tag.rawValue)' twice")
            }
        }
        return tags
    }

    fileprivate mutating func connections() throws(CaptureError) -> [ConnectionDescription] {
        guard let value = take("connections") else { return [] }
        guard case .array("(ss)", let elements) = value else {
            throw fault("connections", "of type 'a(ss)': an input's and an output's name")
        }
        let most = CodingLimits.mostParts * CodingLimits.mostParts
        guard elements.count <= most else { throw fault("connections", "at most \(most) entries") }
        var connections: [ConnectionDescription] = []
        for element in elements {
            let names = element.elements?.compactMap(\.text) ?? []
            guard names.count == 2 else { throw fault("connections", "of type 'a(ss)'") }
            let connection = ConnectionDescription(input: names[0], output: names[1])
            guard !connections.contains(connection) else {
                throw fault("connections", "without the one from '\(names[0])' to '\(names[1])' twice")
            }
            connections.append(connection)
        }
        return connections
    }
}

extension InputDescription: BusCodable {
    /// `name` s, `media-type` s, `device` s; of a camera (`video` or `depth`) `preset` s or else `pixel-format` s, `width` u,
    /// `height` u,
    /// `frames-per-second` d, `exact` b; of a microphone `sample-format` s, `sample-rate` u, `channels` u, `exact` b.
    ///
    /// A camera of which nothing is asked, not even `exact`, is asked for the preset `high`.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the input")
        let name = try reader.name("name")
        guard let mediaType = try reader.word("media-type", MediaType.self) else { throw reader.missing("media-type") }
        let device = try reader.text("device")
        if device == "" { throw reader.fault("device", "a device's id; leave it out for the first of its kind") }
        var input = InputDescription(name: name, mediaType: mediaType, device: device)
        switch mediaType {
        case .video, .depth: input.video = try reader.videoRequest()
        case .audio: input.audio = try reader.audioRequest()
        case .metadata: break
        }
        try reader.end()
        self = input
    }

    /// The input as `a{sv}`; what is asked of the other media type is left out.
    public var busValue: BusValue {
        var values: [String: BusValue] = ["name": .string(name), "media-type": .string(mediaType.rawValue)]
        values["device"] = device.map { .string($0) }
        switch mediaType {
        case .video, .depth:
            values["pixel-format"] = video.pixelFormat.map { .string($0.busName) }
            values["width"] = video.width.map { .uint32(UInt32(clamping: $0)) }
            values["height"] = video.height.map { .uint32(UInt32(clamping: $0)) }
            values["frames-per-second"] = video.framesPerSecond.map { .double($0) }
            values["exact"] = .bool(video.isExact)
        case .audio:
            values["sample-format"] = audio.sampleFormat.map { .string($0.rawValue) }
            values["sample-rate"] = audio.sampleRate.map { .uint32(UInt32(clamping: $0)) }
            values["channels"] = audio.channels.map { .uint32(UInt32(clamping: $0)) }
            values["exact"] = .bool(audio.isExact)
        case .metadata: break
        }
        return .properties(values)
    }
}

extension PropertyReader {
    fileprivate mutating func videoRequest() throws(CaptureError) -> VideoFormatRequest {
        let preset = try word("preset", Preset.self)
        let pixelFormat = try pixelFormat("pixel-format")
        // The preset `photo` asks for 2^20 to mean the largest.
        let width = try number("width", 1...(1 << 20))
        let height = try number("height", 1...(1 << 20))
        let rate = try real("frames-per-second", above: 0, to: 1000)
        let exact = try flag("exact")
        let isBare = pixelFormat == nil && width == nil && height == nil && rate == nil && exact == nil
        if let preset {
            guard isBare else { throw fault("preset", "alone: it stands for size and rate") }
            return preset.request
        }
        if isBare { return Preset.high.request }
        return VideoFormatRequest(
            pixelFormat: pixelFormat,
            width: width,
            height: height,
            framesPerSecond: rate,
            isExact: exact ?? false
        )
    }

    fileprivate mutating func audioRequest() throws(CaptureError) -> AudioFormatRequest {
        AudioFormatRequest(
            sampleFormat: try word("sample-format", SampleFormat.self),
            sampleRate: try number("sample-rate", 1...1_536_000),
            channels: try number("channels", 1...256),
            isExact: try flag("exact") ?? false
        )
    }

    mutating func pixelFormat(_ key: String) throws(CaptureError) -> PixelFormat? {
        guard let text = try text(key) else { return nil }
        guard let format = PixelFormat(busName: text) else {
            throw fault(key, "a four-character code such as YUYV")
        }
        return format
    }
}

extension PixelFormat {
    /// The code's name; codes that no name stands for are written in hexadecimal.
    var busName: String {
        let name = description
        return PixelFormat(name: name) == self ? name : "0x" + String(rawValue, digits: 8, radix: 16)
    }

    init?(busName: String) {
        if busName.utf8.count == 10, busName.hasPrefix("0x"), let code = UInt32(busName.dropFirst(2), radix: 16) {
            self.init(rawValue: code)
        } else {
            self.init(name: busName)
        }
    }
}

extension OutputDescription: BusCodable {
    /// `name` s, `kind` s, `format` s (the kind's first), `video-codec` s (auto), `audio-codec` s (auto),
    /// `video-bit-rate` u (0), `quality` u (90), `encoder-preset` s (auto), `duration` x in nanoseconds (0),
    /// `frame-count` x (0), `library` a{sv}, `size-limit`, `max-file-size` and `min-free-space` x in bytes (0), `segments`
    /// a{sv} (one file), `pre-roll` x in nanoseconds (0), `fragment-interval` x in nanoseconds (half a second),
    /// `tags` a{ss} (none),
    /// `rotation` u (0), `mirrored` b (false), `channels` au (all), `gain` d in decibels (0).
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the output")
        let name = try reader.name("name")
        guard let kind = try reader.word("kind", OutputKind.self) else { throw reader.missing("kind") }
        let formats = OutputDescription.formats(of: kind)
        var output = OutputDescription(
            name: name,
            kind: kind,
            format: try reader.word("format", of: formats) ?? formats.first ?? "",
            videoCodec: try reader.word("video-codec", of: ["auto", "h264", "mjpeg", "copy"]) ?? "auto",
            audioCodec: try reader.word("audio-codec", of: ["auto", "aac", "opus", "flac", "pcm"]) ?? "auto",
            videoBitRate: try reader.number("video-bit-rate", 0...1_000_000_000) ?? 0,
            quality: try reader.number("quality", 1...100) ?? 90,
            encoderPreset: try reader.word("encoder-preset", of: OutputDescription.encoderPresets) ?? "auto",
            duration: try reader.number("duration", 0...Int64.max) ?? 0,
            frameCount: try reader.number("frame-count", 0...Int.max) ?? 0,
            library: try reader.take("library").map { value throws(CaptureError) in
                try LibraryDestination(busValue: value)
            },
            sizeLimit: try reader.number("size-limit", 0...Int64.max) ?? 0,
            maxFileSize: try reader.number("max-file-size", 0...1 << 62) ?? 0,
            minFreeSpace: try reader.number("min-free-space", 0...1 << 62) ?? 0,
            segments: try reader.take("segments").map { value throws(CaptureError) in try SegmentRule(busValue: value)
            },
            preRoll: try reader.number("pre-roll", 0...Int64.max) ?? 0,
            hasMetadata: try reader.flag("metadata") ?? false,
            fragmentInterval: try reader.number("fragment-interval", 0...Int64.max)
                ?? OutputDescription.usualFragmentInterval,
            tags: try reader.tags()
        )
        output.settings = try reader.connectionSettings()
        try reader.end()
        self = output
    }

    /// The output as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "name": .string(name), "kind": .string(kind.rawValue), "format": .string(format),
            "video-codec": .string(videoCodec), "audio-codec": .string(audioCodec),
            "video-bit-rate": .uint32(UInt32(clamping: videoBitRate)), "quality": .uint32(UInt32(clamping: quality)),
            "encoder-preset": .string(encoderPreset),
            "duration": .int64(duration), "frame-count": .int64(Int64(frameCount)),
        ]
        values["library"] = library?.busValue
        if sizeLimit > 0 { values["size-limit"] = .int64(sizeLimit) }
        if maxFileSize > 0 { values["max-file-size"] = .int64(maxFileSize) }
        if minFreeSpace > 0 { values["min-free-space"] = .int64(minFreeSpace) }
        values["segments"] = segments?.busValue
        if preRoll > 0 { values["pre-roll"] = .int64(preRoll) }
        if hasMetadata { values["metadata"] = .bool(true) }
        if fragmentInterval != OutputDescription.usualFragmentInterval {
            values["fragment-interval"] = .int64(fragmentInterval)
        }
        if !tags.isEmpty {
            let named = tags.sorted { $0.key.rawValue < $1.key.rawValue }
            values["tags"] = .dictionary("ss", named.map { BusEntry(.string($0.key.rawValue), .string($0.value)) })
        }
        return .properties(values.merging(settings.properties) { $1 })
    }
}

extension LibraryDestination: BusCodable {
    /// `name` s (empty), `album` s (none).
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the output's place in the library")
        self.init(name: try reader.text("name") ?? "", album: try reader.text("album"))
        try reader.end()
    }

    /// The destination as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [:]
        if !name.isEmpty { values["name"] = .string(name) }
        values["album"] = album.map { .string($0) }
        return .properties(values)
    }
}
