public import CaptureBus
public import CaptureCore

extension PhotoSettings: BusCodable {
    /// `format` s (jpeg), `quality` u (90), `width` u and `height` u (as it runs), `burst` u (1), `companion` s (none),
    /// `bracket` ad in EV (none), `flash` s (as it is), `library` a{sv}, `size-limit` x in bytes (0).
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the photo's settings")
        let formats = OutputDescription.formats(of: .photo)
        let width = try reader.number("width", PictureSize.range)
        let height = try reader.number("height", PictureSize.range)
        if width == nil, height != nil { throw reader.missing("width") }
        if height == nil, width != nil { throw reader.missing("height") }
        let settings = PhotoSettings(
            format: try reader.word("format", of: formats) ?? formats.first ?? "",
            quality: try reader.number("quality", 1...100) ?? 90,
            size: width.flatMap { width in height.map { PictureSize(width: width, height: $0) } },
            burst: try reader.number("burst", 1...PhotoSettings.longestBurst) ?? 1,
            companion: try reader.word("companion", of: PhotoSettings.pairedFormats),
            bracket: try reader.numbers("bracket", PhotoSettings.biases, most: PhotoSettings.mostFiles) ?? [],
            flash: try reader.word("flash"),
            library: try reader.take("library").map { value throws(CaptureError) in
                try LibraryDestination(busValue: value)
            },
            sizeLimit: try reader.number("size-limit", 0...Int64.max) ?? 0
        )
        try reader.end()
        self = settings
    }

    /// The settings as `a{sv}`.
    public var busValue: BusValue {
        var values: [String: BusValue] = [
            "format": .string(format), "quality": .uint32(UInt32(clamping: quality)),
            "burst": .uint32(UInt32(clamping: burst)),
        ]
        if let size {
            values["width"] = .uint32(UInt32(clamping: size.width))
            values["height"] = .uint32(UInt32(clamping: size.height))
        }
        if !bracket.isEmpty { values["bracket"] = .array("d", bracket.map { .double($0) }) }
        values["flash"] = flash.map { .string($0.rawValue) }
        values["companion"] = companion.map { .string($0) }
        values["library"] = library?.busValue
        if sizeLimit > 0 { values["size-limit"] = .int64(sizeLimit) }
        return .properties(values)
    }
}
