/// The size of a picture, in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
    /// The range of a width and of a height: 1 to 1,048,576 pixels.
    public static let range = 1...1 << 20

    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int

    /// A size of the given pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// As in `1920x1080`.
    public var description: String { "\(width)x\(height)" }

    /// Refuses a size that no picture has.
    ///
    /// - Throws: An error of the given code.
    func check(_ code: CaptureError.Code) throws(CaptureError) {
        for (what, value) in [("width", width), ("height", height)] where !PictureSize.range.contains(value) {
            let most = PictureSize.range.upperBound
            throw CaptureError(code, "a \(what) of \(value) is out of range: 1 to \(most) pixels")
        }
    }

    /// How far another size is from this one, by ratios: half the width is as far off as the double.
    fileprivate func distance(to other: PictureSize) -> Double {
        func ratio(_ one: Int, _ other: Int) -> Double {
            let ratio = Double(max(one, 1)) / Double(max(other, 1))
            return max(ratio, 1 / ratio)
        }
        return ratio(width, other.width) * ratio(height, other.height)
    }
}

extension [VideoFormatOption] {
    /// Those with just this size.
    public func offering(_ size: PictureSize) -> [VideoFormatOption] {
        filter { $0.sizes.offers(width: size.width, height: size.height) }
    }

    /// Those of a sensor's own numbers, in a Bayer pattern, the ones with the most bits first.
    public var raw: [VideoFormatOption] {
        let raw = compactMap { option -> (option: VideoFormatOption, depth: Int)? in
            guard !option.isEmulated, option.pixelFormat.isBayer, let structure = PixelStructure(option.pixelFormat)
            else { return nil }
            return (option, structure.depth)
        }
        return raw.enumerated().sorted { ($1.element.depth, $0.offset) < ($0.element.depth, $1.offset) }.map(
            \.element.option
        )
    }

    /// The sizes nearest to one, the nearest first.
    func nearest(to size: PictureSize, most: Int = 3) -> [PictureSize] {
        var found: Set<PictureSize> = []
        for option in self {
            switch option.sizes {
            case .discrete(let sizes):
                for one in sizes { found.insert(PictureSize(width: one.width, height: one.height)) }
            case .stepwise(let range):
                guard let width = Self.nearest(size.width, range.width),
                    let height = Self.nearest(size.height, range.height)
                else { continue }
                found.insert(PictureSize(width: width, height: height))
            }
        }
        let sorted = found.map { (size: $0, distance: size.distance(to: $0)) }.sorted {
            ($0.distance, $0.size.width, $0.size.height) < ($1.distance, $1.size.width, $1.size.height)
        }
        return sorted.prefix(most).map(\.size)
    }

    private static func nearest(_ wanted: Int, _ range: (least: Int, most: Int, step: Int)) -> Int? {
        guard range.least <= range.most else { return nil }
        let step = Swift.max(1, range.step)
        let within = Swift.min(Swift.max(wanted, range.least), range.most) - range.least
        let below = range.least + within / step * step
        let (above, isTooMuch) = below.addingReportingOverflow(step)
        return !isTooMuch && above <= range.most && above - wanted < wanted - below ? above : below
    }

    /// Those with just this size.
    ///
    /// - Parameters:
    ///   - camera: The name of the camera, for the message.
    ///   - what: A word on the formats, for the message, as in `in colour`.
    /// - Throws: `CaptureError.Code.invalidArgument` if no format has it. The message names the nearest sizes.
    public func offering(
        _ size: PictureSize,
        of camera: String,
        as what: String = ""
    ) throws(CaptureError) -> [VideoFormatOption] {
        try size.check(.invalidArgument)
        let able = offering(size)
        guard able.isEmpty else { return able }
        let near = nearest(to: size).map(\.description)
        let use = what.isEmpty ? "" : " \(what)"
        throw CaptureError(
            .invalidArgument,
            near.isEmpty
                ? "\(camera) names no sizes\(use), so it has none of \(size)"
                : "\(camera) has no size of \(size)\(use); the nearest: \(near.joined(separator: ", "))"
        )
    }
}
