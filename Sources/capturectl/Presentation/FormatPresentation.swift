import CaptureKit

/// Formats as an indented list and as JSON.
enum FormatPresentation {
    static func text(_ device: DeviceDescription) -> String {
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
