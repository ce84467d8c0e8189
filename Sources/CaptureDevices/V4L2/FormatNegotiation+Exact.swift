import CaptureCore

extension FormatNegotiation {
    /// The choice that meets every part of a wish; of several the one negotiation prefers.
    func exact(_ request: VideoFormatRequest) throws(CaptureError) -> Choice {
        var left = options
        if let pixelFormat = request.pixelFormat {
            left = left.filter { $0.pixelFormat == pixelFormat }
            if left.isEmpty {
                let names = options.map { "\($0.pixelFormat)" }
                throw CaptureError(
                    .noSuchFormat,
                    "the camera has no format \(pixelFormat); it offers \(FormatNegotiation.list(names))"
                )
            }
        }
        let before = left
        left = left.compactMap { $0.keeping(width: request.width, height: request.height) }
        if left.isEmpty { throw FormatNegotiation.noSize(request, before) }
        let sized = left
        if let rate = request.framesPerSecond {
            left = left.compactMap { $0.keeping(rate: rate) }
            if left.isEmpty { throw FormatNegotiation.noRate(request, rate, sized) }
        }
        var nearest = request
        nearest.isExact = false
        return try FormatNegotiation(options: left).choose(nearest)
    }

    private static func noSize(_ request: VideoFormatRequest, _ options: [VideoFormatOption]) -> CaptureError {
        var names: [String] = []
        for option in options {
            switch option.sizes {
            case .discrete(let sizes): names += sizes.map { "\($0.width)x\($0.height)" }
            case .stepwise(let range):
                names.append(
                    "\(range.width.least)x\(range.height.least) to \(range.width.most)x\(range.height.most)"
                        + " in steps of \(range.width.step)x\(range.height.step)"
                )
            }
        }
        let wanted = "\(request.width.map(String.init) ?? "any")x\(request.height.map(String.init) ?? "any")"
        let format = request.pixelFormat.map { " in \($0)" } ?? ""
        return CaptureError(.noSuchFormat, "the camera has no size \(wanted)\(format); it offers \(list(names))")
    }

    private static func noRate(
        _ request: VideoFormatRequest,
        _ rate: Double,
        _ options: [VideoFormatOption]
    ) -> CaptureError {
        var names: [String] = []
        for option in options {
            for intervals in option.everyIntervals {
                switch intervals {
                case .discrete(let intervals): names += intervals.map { "\($0)" }
                case .range(let shortest, let longest, _): names.append("\(longest) to \(shortest)")
                }
            }
        }
        let size = request.width.flatMap { width in request.height.map { " at \(width)x\($0)" } } ?? ""
        let format = request.pixelFormat.map { " in \($0)" } ?? ""
        let text = rate == rate.rounded() ? "\(Int(rate))" : "\(rate)"
        return CaptureError(
            .noSuchFormat,
            "the camera has no rate of \(text) frames a second\(format)\(size); it offers \(list(names))"
        )
    }

    /// Names without repetitions, cut where a sentence ends being one.
    private static func list(_ names: [String]) -> String {
        var seen: [String] = []
        for name in names where !seen.contains(name) { seen.append(name) }
        if seen.isEmpty { return "none that its driver names" }
        let shown = seen.prefix(16).joined(separator: ", ")
        return seen.count > 16 ? shown + " and \(seen.count - 16) more" : shown
    }
}

extension VideoFormatOption {
    /// The option with just the sizes that are exactly this, `nil` when none is.
    fileprivate func keeping(width: Int?, height: Int?) -> VideoFormatOption? {
        var kept = self
        switch sizes {
        case .discrete(let sizes):
            let left = sizes.filter { $0.width == width ?? $0.width && $0.height == height ?? $0.height }
            if left.isEmpty { return nil }
            kept.sizes = .discrete(left)
        case .stepwise(let range):
            if let width, FormatNegotiation.nearest(width, range.width) != width { return nil }
            if let height, FormatNegotiation.nearest(height, range.height) != height { return nil }
        }
        return kept
    }

    /// The option with just the sizes that come at this rate, `nil` when none does.
    fileprivate func keeping(rate: Double) -> VideoFormatOption? {
        var kept = self
        switch sizes {
        case .discrete(let sizes):
            let left = sizes.filter { $0.intervals.offers(rate) }
            if left.isEmpty { return nil }
            kept.sizes = .discrete(left)
        case .stepwise(let range):
            if !range.intervals.offers(rate) { return nil }
        }
        return kept
    }

    fileprivate var everyIntervals: [FrameIntervals] {
        switch sizes {
        case .discrete(let sizes): sizes.map(\.intervals)
        case .stepwise(let range): [range.intervals]
        }
    }
}
