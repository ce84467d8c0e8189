import CaptureKit

/// Formats as an indented list and as JSON.
enum FormatPresentation {
    /// Everything, or what fits a terminal.
    ///
    /// - Parameter width: The terminal's columns; `nil` for a line for each size.
    static func text(_ device: DeviceDescription, width: Int? = nil) -> String {
        guard let width else { return text(device) }
        return short(device).flatMap { wrapped($0.words, indent: $0.indent, width: width) }.joined(separator: "\n")
            + "\n"
    }

    private static func text(_ device: DeviceDescription) -> String {
        var lines = ["\(Printable.text(device.id.rawValue))  \(Printable.text(device.name))"]
        for option in device.videoFormats {
            let emulated = option.isEmulated ? ", emulated" : ""
            lines.append(
                "  \(Printable.text(option.pixelFormat.description))  \(Printable.text(option.name))\(emulated)"
            )
            switch option.sizes {
            case .discrete(let sizes):
                for size in sizes { lines.append("    \(size.width)x\(size.height)  \(rates(size.intervals))") }
            case .stepwise(let range):
                let (width, height) = (range.width, range.height)
                let step = width.step == 1 && height.step == 1 ? "any size" : "steps of \(width.step)x\(height.step)"
                lines.append(
                    "    \(width.least)x\(height.least) to \(width.most)x\(height.most), \(step)  "
                        + rates(range.intervals)
                )
            }
        }
        for option in device.audioFormats {
            lines.append(
                "  \(option.sampleFormats.map { Printable.text($0) }.joined(separator: " "))  "
                    + "\(range(option.rates)) Hz  \(range(option.channels)) channels"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private typealias Line = (indent: Int, words: [String])

    /// Sizes, pixel formats and sample formats that have all else in common, in one line.
    private static func short(_ device: DeviceDescription) -> [Line] {
        var lines: [Line] = [(0, ["\(Printable.text(device.id.rawValue)) ", Printable.text(device.name)])]
        let formats = grouped(device.videoFormats.map { ($0, sizes(of: $0)) })
        for (sizes, options) in formats {
            // One format has room for its name.
            let names = options.map { option in
                let format = Printable.text(option.pixelFormat.description)
                let name = options.count == 1 ? "  \(Printable.text(option.name))" : ""
                return format + name + (option.isEmulated ? ", emulated" : "")
            }
            lines.append((2, names))
            lines += sizes.map { (4, $0.words) }
        }
        let groups = grouped(
            device.audioFormats.map { option in
                let names = option.sampleFormats.map { Printable.text($0) }.joined(separator: " ")
                return (range(option.rates), "\(names), \(range(option.channels)) channels")
            }
        )
        lines += groups.map { group in (2, (group.key + ", Hz:").words + group.names) }
        return lines
    }

    /// The sizes of a format, those with the same rates in one line; the smallest and the largest where there are many.
    private static func sizes(of option: VideoFormatOption) -> [String] {
        switch option.sizes {
        case .discrete(let sizes):
            let groups = grouped(sizes.map { ("\($0.width)x\($0.height)", rates($0.intervals)) })
            guard groups.count > 4, let least = sizes.min(by: { $0.width * $0.height < $1.width * $1.height }),
                let most = sizes.max(by: { $0.width * $0.height < $1.width * $1.height })
            else {
                return groups.map { "\($0.key) \($0.names.joined(separator: " "))" }
            }
            let rate =
                sizes.compactMap { fastest($0.intervals) }.max().map { ", up to \(Quantities.rate($0)) fps" } ?? ""
            return [
                "\(sizes.count) sizes from \(least.width)x\(least.height) to \(most.width)x\(most.height)\(rate); "
                    + "see --wide"
            ]
        case .stepwise(let range):
            let (width, height) = (range.width, range.height)
            return ["\(width.least)x\(height.least) to \(width.most)x\(height.most), \(rates(range.intervals))"]
        }
    }

    private static func fastest(_ intervals: FrameIntervals) -> Double? {
        switch intervals {
        case .discrete(let list): list.map(\.framesPerSecond).max()
        case .range(let shortest, _, _): shortest.framesPerSecond
        }
    }

    /// The names under each key, keys and names in their order.
    private static func grouped<Name, Key: Equatable>(_ pairs: [(name: Name, key: Key)]) -> [(key: Key, names: [Name])]
    {
        var groups: [(key: Key, names: [Name])] = []
        for (name, key) in pairs {
            if let index = groups.firstIndex(where: { $0.key == key }) {
                groups[index].names.append(name)
            } else {
                groups.append((key, [name]))
            }
        }
        return groups
    }

    /// Words on as many lines as it takes, all but the first indented once more; what fits no line is cut.
    private static func wrapped(_ words: [String], indent: Int, width: Int) -> [String] {
        var lines = [String(repeating: " ", count: indent)]
        var isEmpty = true
        for word in words {
            let last = lines[lines.count - 1]
            if !isEmpty, TextWidth.of(last) + 1 + TextWidth.of(word) > width {
                lines.append(String(repeating: " ", count: indent + 2) + word)
            } else {
                lines[lines.count - 1] += (isEmpty ? "" : " ") + word
            }
            isEmpty = false
        }
        return lines.map { TextWidth.cut($0, to: width) }
    }

    static func json(_ device: DeviceDescription) -> JSON {
        [
            "id": JSON(device.id.rawValue), "kind": JSON(DevicePresentation.kind(device)), "name": JSON(device.name),
            "video": .array(device.videoFormats.map(json)), "audio": .array(device.audioFormats.map(json)),
        ]
    }

    private static func json(_ option: VideoFormatOption) -> JSON {
        let sizes: JSON =
            switch option.sizes {
            case .discrete(let sizes):
                .array(
                    sizes.map {
                        ["width": JSON($0.width), "height": JSON($0.height), "rates": json($0.intervals)]
                    }
                )
            case .stepwise(let range):
                [
                    [
                        "width": json(range.width), "height": json(range.height), "rates": json(range.intervals),
                    ]
                ]
            }
        return [
            "pixelFormat": JSON(option.pixelFormat.description), "name": JSON(option.name),
            "emulated": JSON(option.isEmulated), "sizes": sizes,
        ]
    }

    private static func json(_ option: AudioFormatOption) -> JSON {
        [
            "sampleFormats": .array(option.sampleFormats.map { JSON($0) }),
            "rates": ["least": JSON(option.rates.lowerBound), "most": JSON(option.rates.upperBound)],
            "channels": ["least": JSON(option.channels.lowerBound), "most": JSON(option.channels.upperBound)],
        ]
    }

    private static func json(_ range: (least: Int, most: Int, step: Int)) -> JSON {
        ["least": JSON(range.least), "most": JSON(range.most), "step": JSON(range.step)]
    }

    private static func json(_ intervals: FrameIntervals) -> JSON {
        switch intervals {
        case .discrete(let list): .array(list.map { JSON($0.framesPerSecond) })
        case .range(let shortest, let longest, _):
            ["least": JSON(longest.framesPerSecond), "most": JSON(shortest.framesPerSecond)]
        }
    }

    private static func rates(_ intervals: FrameIntervals) -> String {
        switch intervals {
        case .discrete(let list):
            list.isEmpty
                ? "rate unknown"
                : list.map { Quantities.rate($0.framesPerSecond) }.joined(separator: ", ") + " fps"
        case .range(let shortest, let longest, _):
            "\(Quantities.rate(longest.framesPerSecond)) to \(Quantities.rate(shortest.framesPerSecond)) fps"
        }
    }

    private static func range(_ range: ClosedRange<Int>) -> String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}

extension String {
    /// Its words.
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
