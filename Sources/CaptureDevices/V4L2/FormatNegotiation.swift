import CaptureCore
import Glibc

/// Which of a camera's formats is nearest to a wish: pure, so that it is tested without a camera.
///
/// First the size counts, then whether the wanted rate is reached, then how easily the pixels are used: raw formats
/// that every encoder takes, other raw ones, and compressed ones last, which so are taken just where no raw format
/// comes in that size at that rate.
struct FormatNegotiation {
    /// What to ask of the driver.
    struct Choice: Equatable {
        var pixelFormat: PixelFormat
        var width: Int
        var height: Int
        /// `nil` where the driver does not say what it offers.
        var interval: FrameInterval?
    }

    /// Frames a second where the wish names none.
    static let usualRate = 30.0
    /// Rates closer than this are the same: 29.97 serves for 30.
    static let rateTolerance = 0.01

    let options: [VideoFormatOption]

    /// The nearest choice, or the exact one.
    ///
    /// - Throws: `noSuchFormat` naming what there is, `invalidArgument` for a wish that nothing can meet.
    func choose(_ request: VideoFormatRequest) throws(CaptureError) -> Choice {
        try FormatNegotiation.check(request)
        guard !options.isEmpty else {
            throw CaptureError(.noSuchFormat, "the camera offers no format now; it may have no signal or no writer")
        }
        if request.isExact { return try exact(request) }
        let wanted = options.filter { $0.pixelFormat == request.pixelFormat }
        var best: (cost: Cost, choice: Choice)?
        for (index, option) in (wanted.isEmpty ? options : wanted).enumerated() {
            for candidate in FormatNegotiation.candidates(option, request) {
                let cost = Cost(candidate, option: option, index: index, request: request)
                if let held = best, held.cost <= cost { continue }
                best = (cost, candidate)
            }
        }
        guard let best else {
            throw CaptureError(.noSuchFormat, "the camera names no frame size for any of its formats")
        }
        return best.choice
    }

    private static func check(_ request: VideoFormatRequest) throws(CaptureError) {
        for (what, value) in [("width", request.width), ("height", request.height)] {
            if let value, !(1...1 << 20).contains(value) {
                throw CaptureError(.invalidArgument, "a \(what) of \(value) is out of range, 1 to \(1 << 20) pixels")
            }
        }
        if let rate = request.framesPerSecond, !(rate > 0 && rate <= 10_000) {
            throw CaptureError(.invalidArgument, "\(rate) frames a second are out of range, above 0 to 10000")
        }
    }

    /// Every size of an option, with the interval nearest to the wish.
    private static func candidates(_ option: VideoFormatOption, _ request: VideoFormatRequest) -> [Choice] {
        func choice(_ width: Int, _ height: Int, _ intervals: FrameIntervals) -> Choice {
            let interval = intervals.nearest(to: request.framesPerSecond ?? usualRate)
            return Choice(pixelFormat: option.pixelFormat, width: width, height: height, interval: interval)
        }
        switch option.sizes {
        case .discrete(let sizes):
            return sizes.map { choice($0.width, $0.height, $0.intervals) }
        case .stepwise(let range):
            // The largest of a range may be anything, and its frames without use: the preset takes 4K at most.
            let isLargest = request == Preset.photo.request
            let width = nearest(isLargest ? 3840 : request.width ?? 1280, range.width)
            let height = isLargest ? 2160 : request.height ?? width * 9 / 16
            return [choice(width, nearest(height, range.height), range.intervals)]
        }
    }

    /// The value of a stepped range that is nearest to a wish.
    static func nearest(_ wanted: Int, _ range: (least: Int, most: Int, step: Int)) -> Int {
        let step = max(1, range.step)
        let clamped = min(max(wanted, range.least), max(range.least, range.most))
        let steps = (clamped - range.least + step / 2) / step
        let value = range.least + steps * step
        return value > range.most && value - step >= range.least ? value - step : value
    }
}

/// How far a choice is from a wish; compared part by part.
private struct Cost: Comparable {
    var size: Double
    var shortfall: Double
    var rank: Int
    var rate: Double
    var index: Int

    init(
        _ choice: FormatNegotiation.Choice,
        option: VideoFormatOption,
        index: Int,
        request: VideoFormatRequest
    ) {
        // Ratios, not differences: half the width is as far off as the double. Where no size is wished, 720p is.
        let isFree = request.width == nil && request.height == nil
        func distance(_ value: Int, _ wanted: Int?, _ usual: Int) -> Double {
            guard let wanted = wanted ?? (isFree ? usual : nil) else { return 0 }
            return abs(log2(Double(max(1, value)) / Double(wanted)))
        }
        size = distance(choice.width, request.width, 1280) + distance(choice.height, request.height, 720)
        let wanted = request.framesPerSecond ?? FormatNegotiation.usualRate
        let offered = choice.interval?.framesPerSecond ?? wanted
        let ratio = offered / wanted
        shortfall = ratio >= 1 - FormatNegotiation.rateTolerance ? 0 : 1 - ratio
        rate = abs(ratio - 1) < FormatNegotiation.rateTolerance ? 0 : abs(log2(max(ratio, 1e-6)))
        rank = option.pixelFormat.rank + (option.isEmulated ? 10 : 0)
        self.index = index
    }

    static func < (left: Cost, right: Cost) -> Bool {
        (left.size, left.shortfall, left.rank, left.rate, left.index)
            < (right.size, right.shortfall, right.rank, right.rate, right.index)
    }
}

extension PixelFormat {
    /// How easily it is used, the least the best: what encoders take with little work, what takes more, what is
    /// compressed, and what nothing here makes a picture of.
    fileprivate var rank: Int {
        switch self {
        case .mjpeg, .jpeg: return 3
        case .h264: return 4
        case .hevc: return 5
        default: break
        }
        guard let structure = PixelStructure(self) else { return 6 }
        switch structure.model {
        case .yuv: return structure.depth == 8 ? 0 : 2
        case .rgb: return structure.depth == 8 ? 1 : 2
        case .luma: return structure.depth == 8 ? 1 : 2
        case .hsv, .bayer: return 2
        case .depth: return 6
        }
    }
}
