import CaptureKit

/// The line that `record` keeps up to date while it runs.
struct ProgressLine {
    /// Columns of the terminal.
    var width: Int

    /// The line of the given counters: time, size, frames, drops, level. The narrower the terminal, the smaller the meter.
    /// Without a level it is drawn once a second, so that its time has no tenths.
    func text(_ statistics: SessionStatistics, output: String) -> String {
        let counters = statistics.outputs[output] ?? OutputStatistics()
        let losses = Losses(statistics, output: output)
        let hasSound = counters.hasSound
        let time = hasSound ? Quantities.time(counters.duration) : Quantities.seconds(counters.duration)
        var parts = [time, Quantities.size(counters.bytes)]
        if counters.isWaiting { parts = ["waiting, \(time) kept", Quantities.size(counters.bytes)] }
        if counters.frames > 0 || !counters.videoEncoder.isEmpty {
            parts.append(Quantities.count(counters.frames, "frame"))
        }
        if counters.frames > 0 || !counters.videoEncoder.isEmpty || !hasSound {
            parts.append("\(losses.frames.total) dropped")
        }
        if losses.periods.total > 0 { parts.append("\(Quantities.count(losses.periods.total, "period")) lost") }
        let room = max(width - 1, 10)
        guard hasSound else { return String(parts.joined(separator: "  ").prefix(room)) }
        let level = Quantities.level(counters.peak)
        let meters = [LevelMeter.steps, LevelMeter.steps / 2].map {
            LevelMeter.bar(counters.peak, average: counters.levels.map(\.average).max(), steps: $0) + " " + level
        }
        let lines = (meters + [level]).map { (parts + [$0]).joined(separator: "  ") }
        return lines.first { $0.count <= room } ?? String(parts.joined(separator: "  ").prefix(room))
    }
}

extension OutputStatistics {
    /// Whether it takes sound, of which there may be none yet.
    var hasSound: Bool { samples > 0 || !audioEncoder.isEmpty }
}

/// What was lost on the way to an output: in the device, in the ring, in the recorder. Pictures and sound are counted
/// separately, because a lost period of sound is not a lost frame.
struct Losses {
    /// Losses by cause, none of them 0.
    struct Causes {
        private(set) var counts: [(cause: String, count: UInt64)] = []

        fileprivate init(_ causes: [String: UInt64]) {
            counts = causes.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { (cause: $0.key, count: $0.value) }
        }

        var total: UInt64 { counts.reduce(0) { $0 + $1.count } }

        /// As in `0 dropped` or `3 dropped (1 no-slot, 2 sequence-gap)`.
        var text: String {
            let causes = counts.map { "\($0.count) \($0.cause)" }.joined(separator: ", ")
            return "\(total) dropped" + (causes.isEmpty ? "" : " (\(causes))")
        }

        var json: JSON { .object(counts.map { JSON.Member(key: $0.cause, value: JSON($0.count)) }) }
    }

    /// Frames of cameras.
    let frames: Causes
    /// Periods of microphones.
    let periods: Causes

    init(_ statistics: SessionStatistics, output: String) {
        var (frames, periods): ([String: UInt64], [String: UInt64]) = ([:], [:])
        for (name, input) in statistics.inputs {
            if name == AuthorizationService.microphone.rawValue {
                periods.merge(input.drops, uniquingKeysWith: +)
            } else {
                frames.merge(input.drops, uniquingKeysWith: +)
            }
        }
        frames["slow-recorder", default: 0] += statistics.outputs[output]?.missedFrames ?? 0
        self.frames = Causes(frames)
        self.periods = Causes(periods)
    }
}

/// A bar for the loudness of sound.
enum LevelMeter {
    /// Steps of the bar.
    static let steps = 12
    /// What its left end stands for.
    static let floor = -48.0

    /// The bar of a peak in thousandths of full scale: four decibels a step if there are 12, `!` at its end from -1 dB on. From
    /// the average to the peak it is thin.
    ///
    /// - Parameter average: In decibels; `nil` if that is not known.
    static func bar(_ peak: Int, average: Double? = nil, steps: Int = steps) -> String {
        guard peak > 0 else { return "[" + String(repeating: " ", count: steps) + "]" }
        let level = Quantities.decibels(peak)
        func lit(_ level: Double) -> Int {
            min(max(Int(((level - floor) / -floor * Double(steps)).rounded(.up)), 0), steps)
        }
        let isLoud = level > -1
        let long = isLoud ? steps - 1 : lit(level)
        let thick = min(average.map(lit) ?? long, long)
        let bar =
            String(repeating: "=", count: thick) + String(repeating: "-", count: long - thick) + (isLoud ? "!" : "")
        return "[" + bar + String(repeating: " ", count: steps - bar.count) + "]"
    }
}
