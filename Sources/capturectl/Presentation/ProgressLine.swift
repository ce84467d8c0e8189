import CaptureKit

/// The line that `record` keeps up to date while it runs.
struct ProgressLine {
    /// Columns of the terminal.
    var width: Int

    /// The line of the given counters: time, size, frames, drops, level.
    func text(_ statistics: SessionStatistics, output: String) -> String {
        let counters = statistics.outputs[output] ?? OutputStatistics()
        var parts = [Quantities.time(max(counters.duration, 0)), Quantities.size(counters.bytes)]
        if counters.frames > 0 || !counters.videoEncoder.isEmpty {
            parts.append(Quantities.count(counters.frames, "frame"))
        }
        parts.append("\(ProgressLine.drops(statistics, output: output)) dropped")
        if counters.samples > 0 || !counters.audioEncoder.isEmpty {
            parts.append("\(LevelMeter.bar(counters.peak)) \(Quantities.level(counters.peak))")
        }
        return String(parts.joined(separator: "  ").prefix(max(width - 1, 10)))
    }

    /// Everything that was lost on the way to an output: in the device, in the ring, in the recorder.
    static func drops(_ statistics: SessionStatistics, output: String) -> UInt64 {
        dropsByCause(statistics, output: output).reduce(0) { $0 + $1.count }
    }

    /// The losses by cause, none of them 0.
    static func dropsByCause(_ statistics: SessionStatistics, output: String) -> [(cause: String, count: UInt64)] {
        var causes: [String: UInt64] = [:]
        for input in statistics.inputs.values {
            for (cause, count) in input.drops { causes[cause, default: 0] += count }
        }
        let missed = statistics.outputs[output]?.missedFrames ?? 0
        if missed > 0 { causes["slow-recorder", default: 0] += missed }
        return causes.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { (cause: $0.key, count: $0.value) }
    }
}

/// A bar for the loudness of sound.
enum LevelMeter {
    /// Steps of the bar.
    static let steps = 12
    /// What its left end stands for.
    static let floor = -48.0

    /// The bar of a peak in thousandths of full scale: four decibels a step, `!` at its end from -1 dB on.
    static func bar(_ peak: Int) -> String {
        guard peak > 0 else { return "[" + String(repeating: " ", count: steps) + "]" }
        let level = Quantities.decibels(peak)
        let lit = min(max(Int(((level - floor) / -floor * Double(steps)).rounded(.up)), 0), steps)
        let isLoud = level > -1
        let bar = String(repeating: "=", count: isLoud ? steps - 1 : lit) + (isLoud ? "!" : "")
        return "[" + bar + String(repeating: " ", count: steps - bar.count) + "]"
    }
}
