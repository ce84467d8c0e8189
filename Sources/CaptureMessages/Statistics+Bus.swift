public import CaptureBus
public import CaptureCore

extension SessionStatistics: BusCodable {
    /// `elapsed` x in nanoseconds, `inputs` and `outputs` a{sv}: by their names, each an a{sv}.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the session's statistics")
        self.init()
        elapsed = try reader.number("elapsed", Int64.min...Int64.max) ?? 0
        inputs = try reader.named("inputs")
        outputs = try reader.named("outputs")
        try reader.end()
    }

    /// The counters as `a{sv}`.
    public var busValue: BusValue {
        .properties([
            "elapsed": .int64(elapsed), "inputs": .properties(inputs.mapValues(\.busValue)),
            "outputs": .properties(outputs.mapValues(\.busValue)),
        ])
    }
}

extension PropertyReader {
    fileprivate mutating func named<Part: BusCodable>(_ key: String) throws(CaptureError) -> [String: Part] {
        guard let value = take(key) else { return [:] }
        guard case .dictionary("sv", let entries) = value, entries.count <= CodingLimits.mostCounted else {
            throw fault(key, "at most \(CodingLimits.mostCounted) entries by name")
        }
        var parts: [String: Part] = [:]
        for entry in entries { parts[entry.key.text ?? ""] = try Part(busValue: entry.value) }
        return parts
    }

    fileprivate mutating func counter(_ key: String) throws(CaptureError) -> UInt64 {
        try number(key, 0...UInt64.max) ?? 0
    }

    fileprivate mutating func signed<Number: FixedWidthInteger & SignedInteger>(
        _ key: String
    ) throws(CaptureError) -> Number {
        try number(key, Number.min...Number.max) ?? 0
    }
}

extension PropertyReader {
    fileprivate mutating func pictures(_ key: String) throws(CaptureError) -> [CapturedPicture] {
        guard let value = take(key) else { return [] }
        guard case .array("(xtt)", let elements) = value, elements.count <= PhotoSettings.longestBurst else {
            throw fault(key, "of type 'a(xtt)', at most \(PhotoSettings.longestBurst) entries")
        }
        var pictures: [CapturedPicture] = []
        for element in elements {
            guard let facts = element.elements, facts.count == 3, let time = facts[0].integer,
                let lost = facts[1].unsigned, let bytes = facts[2].unsigned
            else { throw fault(key, "of type 'a(xtt)'") }
            pictures.append(CapturedPicture(time: time, lostBefore: lost, bytes: bytes))
        }
        return pictures
    }
}

extension InputStatistics: BusCodable {
    /// `device` s, `format` s, `published` t, `drops` a{st} by cause, `latency` x in nanoseconds, `queue-depth` x,
    /// `copied-bytes` t where they are counted.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an input's statistics")
        self.init()
        device = try reader.text("device") ?? ""
        format = try reader.text("format") ?? ""
        published = try reader.counter("published")
        copiedBytes = try reader.number("copied-bytes", 0...UInt64.max)
        latency = try reader.signed("latency")
        queueDepth = try reader.signed("queue-depth")
        if let value = reader.take("drops") {
            guard case .dictionary("st", let entries) = value, entries.count <= CodingLimits.mostChoices else {
                throw reader.fault("drops", "of type 'a{st}'")
            }
            for entry in entries { drops[entry.key.text ?? ""] = entry.value.unsigned }
        }
        try reader.end()
    }

    /// The counters as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "device": .string(device), "format": .string(format), "published": .uint64(published),
            "latency": .int64(latency), "queue-depth": .int64(Int64(queueDepth)),
            "drops": .dictionary(
                "st",
                drops.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), .uint64($0.value)) }
            ),
        ]
        if let copiedBytes { values["copied-bytes"] = .uint64(copiedBytes) }
        return .properties(values)
    }
}

extension OutputStatistics: BusCodable {
    /// `frames`, `samples`, `missed-frames`, `missed-samples`, `items`, `silence`, `bytes` t; `start` x in nanoseconds since
    /// 1970 (0: not yet); `duration` x in nanoseconds; `peak`, `drift`, `queue-depth` x; `video-encoder`, `encoder-preset`,
    /// `audio-encoder` s; `paused` b; `waiting` b; `pre-roll-full` b; `disabled-inputs` as; `levels` a(dd); `reached-limit` s (none); of a photo `pictures` a(xtt): when each was captured
    /// in nanoseconds since 1970, how many frames were lost before it, and its bytes.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an output's statistics")
        self.init()
        frames = try reader.counter("frames")
        samples = try reader.counter("samples")
        missedFrames = try reader.counter("missed-frames")
        missedSamples = try reader.counter("missed-samples")
        items = try reader.counter("items")
        silence = try reader.counter("silence")
        bytes = try reader.counter("bytes")
        start = try reader.number("start", 0...Int64.max) ?? 0
        duration = try reader.signed("duration")
        peak = try reader.signed("peak")
        drift = try reader.signed("drift")
        queueDepth = try reader.signed("queue-depth")
        videoEncoder = try reader.text("video-encoder") ?? ""
        encoderPreset = try reader.text("encoder-preset") ?? ""
        audioEncoder = try reader.text("audio-encoder") ?? ""
        isPaused = try reader.flag("paused") ?? false
        isWaiting = try reader.flag("waiting") ?? false
        preRollIsFull = try reader.flag("pre-roll-full") ?? false
        if let value = reader.take("levels") { levels = try [AudioLevel](busValue: value) }
        disabledInputs = try reader.texts("disabled-inputs", most: SessionDescription.mostParts) ?? []
        pictures = try reader.pictures("pictures")
        reachedLimit = try reader.word("reached-limit", RecordingLimit.self)
        try reader.end()
    }

    /// The counters as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "frames": .uint64(frames), "samples": .uint64(samples), "missed-frames": .uint64(missedFrames),
            "missed-samples": .uint64(missedSamples), "items": .uint64(items), "silence": .uint64(silence),
            "bytes": .uint64(bytes),
            "start": .int64(start), "duration": .int64(duration), "peak": .int64(Int64(peak)),
            "drift": .int64(Int64(drift)),
            "queue-depth": .int64(Int64(queueDepth)), "video-encoder": .string(videoEncoder),
            "encoder-preset": .string(encoderPreset), "audio-encoder": .string(audioEncoder),
            "paused": .bool(isPaused), "waiting": .bool(isWaiting), "pre-roll-full": .bool(preRollIsFull),
            "disabled-inputs": .strings(disabledInputs), "levels": levels.busValue,
        ]
        if !pictures.isEmpty {
            values["pictures"] = .array(
                "(xtt)",
                pictures.map { .structure([.int64($0.time), .uint64($0.lostBefore), .uint64($0.bytes)]) }
            )
        }
        if let reachedLimit { values["reached-limit"] = .string(reachedLimit.rawValue) }
        return .properties(values)
    }
}
