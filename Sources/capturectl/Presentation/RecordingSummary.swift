import CaptureKit

/// What was recorded, in the end.
struct RecordingSummary {
    let file: String
    let format: String
    let outcome: SessionOutcome

    private var counters: OutputStatistics { outcome.statistics.outputs[outcome.output] ?? OutputStatistics() }
    private var drops: [(cause: String, count: UInt64)] {
        ProgressLine.dropsByCause(outcome.statistics, output: outcome.output)
    }

    /// Over a few lines, for a person.
    var text: String {
        let codecs = [counters.videoEncoder, counters.audioEncoder].filter { !$0.isEmpty }
        let made = ([format] + (codecs.isEmpty ? [] : [codecs.joined(separator: " + ")])).joined(separator: ", ")
        var lines = ["\(Printable.text(file)): \(made), \(Quantities.size(counters.bytes))"]
        if counters.duration > 0 { lines[0] += ", \(Quantities.time(counters.duration))" }
        // A photo's one frame needs no words; a movie without a picture does.
        if counters.frames > 1 || (counters.frames == 0 && !counters.videoEncoder.isEmpty) {
            let causes = drops.map { "\($0.count) \($0.cause)" }.joined(separator: ", ")
            lines.append("  \(counters.frames) frames, dropped: \(causes.isEmpty ? "none" : causes)")
        }
        if counters.samples > 0 {
            var sound = "  \(Quantities.count(counters.samples, "sample frame"))"
            if counters.silence > 0 { sound += ", \(counters.silence) of them silence after overruns" }
            if counters.missedSamples > 0 { sound += ", \(counters.missedSamples) missed" }
            lines.append(sound + ", clock drift \(counters.drift) ppm")
        }
        for (name, input) in outcome.statistics.inputs.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name): \(Printable.text(input.device)), \(Printable.text(input.format))")
        }
        return lines.joined(separator: "\n")
    }

    /// The same for a program.
    var json: JSON {
        [
            "file": JSON(file), "format": JSON(format), "bytes": JSON(counters.bytes),
            "duration": JSON(Double(counters.duration) / 1e9), "frames": JSON(counters.frames),
            "samples": JSON(counters.samples), "silence": JSON(counters.silence),
            "videoEncoder": JSON(counters.videoEncoder), "audioEncoder": JSON(counters.audioEncoder),
            "drops": .object(drops.map { JSON.Member(key: $0.cause, value: JSON($0.count)) }),
            "missedSamples": JSON(counters.missedSamples), "driftPPM": JSON(counters.drift),
            "inputs": .object(
                outcome.statistics.inputs.sorted { $0.key < $1.key }.map {
                    JSON.Member(
                        key: $0.key,
                        value: [
                            "device": JSON($0.value.device), "format": JSON($0.value.format),
                            "published": JSON($0.value.published), "drops": JSON($0.value.drops),
                        ]
                    )
                }
            ),
            "error": outcome.error.map { ["code": JSON($0.code.rawValue), "message": JSON($0.message)] } ?? .null,
        ]
    }
}
