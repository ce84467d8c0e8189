public import CaptureBus
public import CaptureCore

extension DeviceDescription: BusCodable {
    /// `id` s, `media-type` s, `name` s, `aliases` as, `driver` s, `bus` s, `device-type` s, `position` s,
    /// `video-formats` aa{sv}, `audio-formats` aa{sv}; of a camera with metadata `metadata-node` s, `metadata-formats` as.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the device")
        guard let id = try reader.text("id") else { throw reader.missing("id") }
        guard let mediaType = try reader.word("media-type", MediaType.self) else { throw reader.missing("media-type") }
        let most = CodingLimits.mostChoices
        let device = DeviceDescription(
            id: DeviceID(rawValue: id),
            mediaType: mediaType,
            name: try reader.text("name") ?? "",
            aliases: try reader.texts("aliases", most: most) ?? [],
            driver: try reader.text("driver") ?? "",
            bus: try reader.text("bus") ?? "",
            // A daemon that is newer than its client may know more words.
            deviceType: DeviceType(rawValue: try reader.text("device-type") ?? "") ?? .builtIn,
            position: DevicePosition(rawValue: try reader.text("position") ?? "") ?? .unspecified,
            videoFormats: try reader.list("video-formats", most: most) ?? [],
            audioFormats: try reader.list("audio-formats", most: most) ?? [],
            metadata: try reader.metadata()
        )
        try reader.end()
        self = device
    }

    /// The device as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "id": .string(id.rawValue), "media-type": .string(mediaType.rawValue), "name": .string(name),
            "aliases": .strings(aliases), "driver": .string(driver), "bus": .string(bus),
            "device-type": .string(deviceType.rawValue), "position": .string(position.rawValue),
            "video-formats": .list(videoFormats), "audio-formats": .list(audioFormats),
        ]
        values["metadata-node"] = metadata.map { .string($0.node) }
        values["metadata-formats"] = metadata.map { .strings($0.formats.map(\.busName)) }
        return .properties(values)
    }
}

extension PropertyReader {
    fileprivate mutating func metadata() throws(CaptureError) -> DeviceMetadata? {
        let node = try text("metadata-node") ?? ""
        let names = try texts("metadata-formats", most: CodingLimits.mostChoices) ?? []
        let formats = names.compactMap { PixelFormat(busName: $0) }
        guard formats.count == names.count else { throw fault("metadata-formats", "four-character codes such as UVCH") }
        return formats.isEmpty ? nil : DeviceMetadata(node: node, formats: formats)
    }
}

extension VideoFormatOption: BusCodable {
    /// `pixel-format` s, `name` s, `emulated` b, and either `sizes` aa{sv} of `width` u, `height` u and intervals, or
    /// `size-range` a{sv} of `width` (uuu), `height` (uuu) as least, most and step, and intervals.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the video format")
        guard let pixelFormat = try reader.pixelFormat("pixel-format") else { throw reader.missing("pixel-format") }
        let name = try reader.text("name") ?? ""
        let isEmulated = try reader.flag("emulated") ?? false
        let discrete = try reader.list("sizes", most: CodingLimits.mostChoices, DiscreteSize.self)
        let range = reader.take("size-range")
        try reader.end()
        let sizes: FrameSizes
        switch (discrete, range) {
        case (let discrete?, nil): sizes = .discrete(discrete)
        case (nil, let range?): sizes = .stepwise(try StepwiseSize(busValue: range))
        default: throw CaptureError(.invalidArgument, "the video format has either 'sizes' or 'size-range'")
        }
        self.init(pixelFormat: pixelFormat, name: name, isEmulated: isEmulated, sizes: sizes)
    }

    /// The format as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "pixel-format": .string(pixelFormat.busName), "name": .string(name), "emulated": .bool(isEmulated),
        ]
        switch sizes {
        case .discrete(let sizes): values["sizes"] = .list(sizes)
        case .stepwise(let size): values["size-range"] = size.busValue
        }
        return .properties(values)
    }
}

extension DiscreteSize: BusCodable {
    /// `width` u, `height` u, and intervals.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the size")
        guard let width = try reader.number("width", 0...Int(Int32.max)) else { throw reader.missing("width") }
        guard let height = try reader.number("height", 0...Int(Int32.max)) else { throw reader.missing("height") }
        let intervals = try reader.intervals()
        try reader.end()
        self.init(width: width, height: height, intervals: intervals)
    }

    /// The size as `a{sv}`.
    public var busValue: BusValue {
        var values = intervals.busValues
        values["width"] = .uint32(UInt32(clamping: width))
        values["height"] = .uint32(UInt32(clamping: height))
        return .properties(values)
    }
}

extension StepwiseSize: BusCodable {
    /// `width` (uuu), `height` (uuu), each least, most and step, and intervals.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the range of sizes")
        guard let width = try reader.numbers("width", 3) else { throw reader.missing("width") }
        guard let height = try reader.numbers("height", 3) else { throw reader.missing("height") }
        let intervals = try reader.intervals()
        try reader.end()
        self.init(
            width: (width[0], width[1], width[2]),
            height: (height[0], height[1], height[2]),
            intervals: intervals
        )
    }

    /// The range as `a{sv}`.
    public var busValue: BusValue {
        func triple(_ range: (least: Int, most: Int, step: Int)) -> BusValue {
            .structure([range.least, range.most, range.step].map { .uint32(UInt32(clamping: $0)) })
        }
        var values = intervals.busValues
        values["width"] = triple(width)
        values["height"] = triple(height)
        return .properties(values)
    }
}

extension AudioFormatOption: BusCodable {
    /// `sample-formats` as, `rates` (uu), `channels` (uu), each least and most.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the audio format")
        let formats = try reader.texts("sample-formats", most: CodingLimits.mostChoices) ?? []
        let rates = try reader.range("rates")
        let channels = try reader.range("channels")
        try reader.end()
        self.init(sampleFormats: formats, rates: rates, channels: channels)
    }

    /// The format as `a{sv}`.
    public var busValue: BusValue {
        func pair(_ range: ClosedRange<Int>) -> BusValue {
            .structure([range.lowerBound, range.upperBound].map { .uint32(UInt32(clamping: $0)) })
        }
        return .properties([
            "sample-formats": .strings(sampleFormats), "rates": pair(rates), "channels": pair(channels),
        ])
    }
}

extension PropertyReader {
    fileprivate mutating func range(_ key: String) throws(CaptureError) -> ClosedRange<Int> {
        guard let pair = try numbers(key, 2) else { throw missing(key) }
        guard pair[0] <= pair[1] else { throw fault(key, "a least and a most value") }
        return pair[0]...pair[1]
    }

    /// `intervals` a(uu) of seconds as fractions, or `interval-range` a{sv} of `shortest`, `longest` and, unless any
    /// value between is taken, `step`, each (uu).
    fileprivate mutating func intervals() throws(CaptureError) -> FrameIntervals {
        let discrete = take("intervals")
        let range = take("interval-range")
        switch (discrete, range) {
        case (let discrete?, nil):
            guard case .array("(uu)", let elements) = discrete, elements.count <= CodingLimits.mostChoices else {
                throw fault("intervals", "of type 'a(uu)'")
            }
            let wrong = fault("intervals", "fractions of seconds")
            return .discrete(
                try elements.map { element throws(CaptureError) in
                    try FrameInterval(PropertyReader.numbers(element, 2, wrong), wrong)
                }
            )
        case (nil, let range?):
            var reader = try PropertyReader(range, "the range of intervals")
            let wrong = reader.fault("shortest and longest", "fractions of seconds")
            guard let shortest = try reader.numbers("shortest", 2) else { throw reader.missing("shortest") }
            guard let longest = try reader.numbers("longest", 2) else { throw reader.missing("longest") }
            let step = try reader.numbers("step", 2)
            try reader.end()
            return .range(
                shortest: try FrameInterval(shortest, wrong),
                longest: try FrameInterval(longest, wrong),
                step: try step.map { step throws(CaptureError) in try FrameInterval(step, wrong) }
            )
        default:
            throw CaptureError(.invalidArgument, "\(what) has either 'intervals' or 'interval-range'")
        }
    }
}

extension FrameInterval {
    fileprivate init(_ numbers: [Int], _ fault: CaptureError) throws(CaptureError) {
        guard numbers[1] > 0 else { throw fault }
        self.init(UInt32(clamping: numbers[0]), UInt32(clamping: numbers[1]))
    }

    fileprivate var busValue: BusValue { .structure([.uint32(numerator), .uint32(denominator)]) }
}

extension FrameIntervals {
    fileprivate var busValues: [String: BusValue] {
        switch self {
        case .discrete(let intervals):
            return ["intervals": .array("(uu)", intervals.map(\.busValue))]
        case .range(let shortest, let longest, let step):
            var values = ["shortest": shortest.busValue, "longest": longest.busValue]
            values["step"] = step?.busValue
            return ["interval-range": .properties(values)]
        }
    }
}
