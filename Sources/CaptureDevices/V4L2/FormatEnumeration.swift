import CLinux
import CaptureCore
import CaptureSystem

extension V4L2Node {
    /// Bounds for drivers whose enumerations do not end.
    private static let mostFormats: UInt32 = 512
    private static let mostSizes: UInt32 = 512
    private static let mostIntervals: UInt32 = 512
    /// The most questions about all formats together. A driver with some fifty formats takes four thousand.
    private static let mostQuestions = 16_384

    /// What the node offers now, given what it offered when it was probed.
    ///
    /// That changes with the input that is chosen and with the writer behind a loopback, and then for every format
    /// alike: the names of all and the sizes of the first tell, in a fraction of the thousands of calls of a whole list.
    func formatOptions(since probed: [VideoFormatOption]) -> [VideoFormatOption] {
        var questions = V4L2Node.mostQuestions
        let now = formatOptions { _, _ in .discrete([]) }
        guard let first = probed.first, now.map(\.pixelFormat) == probed.map(\.pixelFormat),
            sizes(of: first.pixelFormat, &questions) == first.sizes
        else { return formatOptions() }
        return probed
    }

    /// Everything the node offers on its present input.
    func formatOptions() -> [VideoFormatOption] {
        formatOptions { sizes(of: $0, &$1) }
    }

    private func formatOptions(sizes: (PixelFormat, inout Int) -> FrameSizes) -> [VideoFormatOption] {
        var questions = V4L2Node.mostQuestions
        var options: [VideoFormatOption] = []
        var raw = clinux_v4l2_option()
        for index in 0..<V4L2Node.mostFormats where questions > 0 {
            questions -= 1
            guard unsafe clinux_v4l2_enum_format(descriptor, bufferType, index, &raw) == 0 else { break }
            let pixelFormat = PixelFormat(rawValue: raw.pixelformat)
            // A driver that lists a format twice means two bus formats of it.
            if options.contains(where: { $0.pixelFormat == pixelFormat }) { continue }
            options.append(
                VideoFormatOption(
                    pixelFormat: pixelFormat,
                    name: text(of: raw.name),
                    isEmulated: raw.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0,
                    sizes: sizes(pixelFormat, &questions)
                )
            )
        }
        return options
    }

    private func sizes(of pixelFormat: PixelFormat, _ questions: inout Int) -> FrameSizes {
        var discrete: [DiscreteSize] = []
        var raw = clinux_v4l2_size()
        for index in 0..<V4L2Node.mostSizes where questions > 0 {
            questions -= 1
            guard unsafe clinux_v4l2_enum_size(descriptor, pixelFormat.rawValue, index, &raw) == 0 else { break }
            if raw.type != V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                let (most, step) = (raw.most_width, max(1, Int(raw.step_width)))
                guard V4L2Node.isRange(raw.least_width, most), V4L2Node.isRange(raw.least_height, raw.most_height)
                else { break }
                return .stepwise(
                    StepwiseSize(
                        width: (Int(raw.least_width), Int(most), step),
                        height: (Int(raw.least_height), Int(raw.most_height), max(1, Int(raw.step_height))),
                        intervals: intervals(of: pixelFormat, width: most, height: raw.most_height, &questions)
                    )
                )
            }
            guard V4L2Node.sides.contains(Int(raw.least_width)), V4L2Node.sides.contains(Int(raw.least_height))
            else { continue }
            let size = DiscreteSize(
                width: Int(raw.least_width),
                height: Int(raw.least_height),
                intervals: intervals(of: pixelFormat, width: raw.least_width, height: raw.least_height, &questions)
            )
            if !discrete.contains(size) { discrete.append(size) }
        }
        return discrete.isEmpty ? triedSizes(of: pixelFormat) : .discrete(discrete)
    }

    /// Whether sizes from `least` to `most` exist, and none exceeds what a frame can have.
    private static func isRange(_ least: UInt32, _ most: UInt32) -> Bool {
        least <= most && sides.contains(Int(most))
    }

    private func intervals(
        of pixelFormat: PixelFormat,
        width: UInt32,
        height: UInt32,
        _ questions: inout Int
    ) -> FrameIntervals {
        var discrete: [FrameInterval] = []
        var raw = clinux_v4l2_interval()
        for index in 0..<V4L2Node.mostIntervals where questions > 0 {
            questions -= 1
            guard
                unsafe clinux_v4l2_enum_interval(descriptor, pixelFormat.rawValue, width, height, index, &raw) == 0
            else { break }
            let least = FrameInterval(raw.least_numerator, raw.least_denominator)
            if raw.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
                if least.numerator != 0, !discrete.contains(least) { discrete.append(least) }
                continue
            }
            let isContinuous = raw.type == V4L2_FRMIVAL_TYPE_CONTINUOUS.rawValue || raw.step_numerator == 0
            return .range(
                shortest: least,
                longest: FrameInterval(raw.most_numerator, raw.most_denominator),
                step: isContinuous ? nil : FrameInterval(raw.step_numerator, raw.step_denominator)
            )
        }
        return .discrete(discrete)
    }

    /// Sizes of a driver that does not enumerate them, as capture cards: what it makes of the least and the most.
    private func triedSizes(of pixelFormat: PixelFormat) -> FrameSizes {
        guard let least = tried(pixelFormat, 1, 1), let most = tried(pixelFormat, 65535, 65535) else {
            var now = clinux_v4l2_format()
            guard unsafe clinux_v4l2_get_format(descriptor, bufferType, &now) == 0,
                now.pixelformat == pixelFormat.rawValue
            else { return .discrete([]) }
            return .discrete(
                [DiscreteSize(width: Int(now.width), height: Int(now.height), intervals: .discrete([]))]
            )
        }
        if least == most {
            return .discrete([DiscreteSize(width: least.0, height: least.1, intervals: .discrete([]))])
        }
        return .stepwise(
            StepwiseSize(
                width: (least.0, most.0, 1),
                height: (least.1, most.1, 1),
                intervals: .discrete([])
            )
        )
    }

    private func tried(_ pixelFormat: PixelFormat, _ width: UInt32, _ height: UInt32) -> (Int, Int)? {
        var raw = clinux_v4l2_format()
        raw.pixelformat = pixelFormat.rawValue
        raw.width = width
        raw.height = height
        guard unsafe clinux_v4l2_try_format(descriptor, bufferType, &raw) == 0,
            raw.pixelformat == pixelFormat.rawValue, V4L2Node.sides.contains(Int(raw.width)),
            V4L2Node.sides.contains(Int(raw.height))
        else { return nil }
        return (Int(raw.width), Int(raw.height))
    }
}
