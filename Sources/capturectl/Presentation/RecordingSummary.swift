import CaptureKit

/// What was recorded, in the end.
struct RecordingSummary {
    /// The path of the file; `nil` for a recording into the media library.
    let file: String?
    let format: String
    let outcome: SessionOutcome
    /// The files of a movie in segments, and those of them that were not removed.
    var segments: (made: [SegmentFile], left: [SegmentFile])?

    private var counters: OutputStatistics { outcome.statistics.outputs[outcome.output] ?? OutputStatistics() }
    private var lost: Losses { Losses(outcome.statistics, output: outcome.output) }

    /// What a stream has and what it lost, in one line; `nil` when it lost nothing.
    var losses: String? {
        if counters.videoEncoder.isEmpty { return lost.periods.total > 0 ? sound : nil }
        return lost.frames.total > 0 ? frames : nil
    }

    /// Over a few lines, for a person.
    var text: String {
        var lines = outcome.isFinal ? result : lastKnown
        if let album = outcome.saved?.album { lines.append("  in the album '\(Printable.text(album))'") }
        if let remark = outcome.saved?.remark { lines.append("  \(Printable.text(remark, limit: 1000))") }
        for (name, input) in outcome.statistics.inputs.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name): \(Printable.text(input.device)), \(Printable.text(input.format))")
        }
        return lines.joined(separator: "\n")
    }

    /// Where it is.
    private var place: String {
        if let file { return Printable.text(file) }
        if let segments { return SegmentPresentation.place(segments.made, left: segments.left) }
        guard let saved = outcome.saved else { return "not in the media library" }
        return saved.asset.map { "in the media library as \(Printable.text($0))" }
            ?? "added to the media library, which this program may not read"
    }

    /// What the file holds.
    private var result: [String] {
        var lines = ["\(place): \(made), \(Quantities.size(counters.bytes))"]
        if counters.duration > 0 { lines[0] += ", \(Quantities.time(counters.duration))" }
        // A photo's one frame needs no words; a movie without a picture does.
        if counters.frames > 1 || (counters.frames == 0 && !counters.videoEncoder.isEmpty) {
            lines.append("  \(frames)")
        }
        if let pace { lines.append("  \(pace)") }
        if counters.samples > 0 { lines.append("  \(sound)") }
        // A person knows the duration that she gave; that of these two she learns here.
        if let limit = counters.reachedLimit, limit == .fileSize || limit == .freeSpace {
            lines.append("  \(SessionPresentation.words(for: limit))")
        }
        return lines
    }

    /// What becomes of an encoder that did not keep up; `nil` for one that did.
    private var pace: String? {
        guard counters.missedFrames > 0, !counters.encoderPreset.isEmpty else { return nil }
        let late = "encoding with preset \(Printable.text(counters.encoderPreset)) did not keep up"
        guard let faster = OutputDescription.encoderPreset(fasterThan: counters.encoderPreset) else {
            return late + "; choose a smaller size or rate with --video-format"
        }
        return late + "; use --encoder-preset \(faster)"
    }

    /// What is known of a file that its recorder finishes unseen.
    private var lastKnown: [String] {
        let end =
            file == nil && segments == nil
            ? "its recorder still finishes it, and it is kept for: capturectl library kept"
            : "its recorder still finishes it; its length is not known here"
        let line = "\(place): \(made), \(end)"
        guard outcome.statistics.outputs[outcome.output] != nil else { return [line] }
        var parts = [Quantities.size(counters.bytes), Quantities.time(counters.duration)]
        if counters.frames > 0 || !counters.videoEncoder.isEmpty { parts.append(frames) }
        if counters.samples > 0 { parts.append(sound) }
        return [line, "  last known: \(parts.joined(separator: ", "))"]
    }

    private var made: String {
        let codecs = [counters.videoEncoder, counters.audioEncoder].filter { !$0.isEmpty && $0 != format }
        return ([format] + (codecs.isEmpty ? [] : [codecs.joined(separator: " + ")])).joined(separator: ", ")
    }

    private var frames: String {
        "\(Quantities.count(counters.frames, "frame")), \(lost.frames.text)"
    }

    private var sound: String {
        var sound = "\(Quantities.count(counters.samples, "sample frame")), periods: \(lost.periods.text)"
        if counters.silence > 0 { sound += ", \(counters.silence) of them silence after overruns" }
        if counters.missedSamples > 0 { sound += ", \(counters.missedSamples) missed" }
        return sound + ", clock drift \(counters.drift) ppm"
    }

    /// The same for a program. Counters that are not final stand apart, so that nobody takes them for the result.
    var json: JSON {
        var made: JSON = ["file": JSON(file), "format": JSON(format)]
        if let segments {
            made = made.with(["segments": SegmentPresentation.json(segments.made)])
        } else if file == nil {
            made = made.with(["library": SavedPresentation.json(outcome.saved)])
        }
        let error = outcome.error.map { ["code": JSON($0.code.rawValue), "message": JSON($0.message)] as JSON }
        let isKnown = outcome.statistics.outputs[outcome.output] != nil
        return made.with(outcome.isFinal ? numbers : ["lastKnown": isKnown ? numbers : .null])
            .with(["final": JSON(outcome.isFinal), "error": error ?? .null])
    }

    private var numbers: JSON {
        [
            "bytes": JSON(counters.bytes), "start": counters.start > 0 ? .time(nanoseconds: counters.start) : .null,
            "duration": .seconds(nanoseconds: counters.duration),
            "frames": JSON(counters.frames), "samples": JSON(counters.samples),
            "items": JSON(counters.items), "silence": JSON(counters.silence),
            "videoEncoder": JSON(counters.videoEncoder),
            "encoderPreset": JSON(counters.encoderPreset), "audioEncoder": JSON(counters.audioEncoder),
            "drops": lost.frames.json, "droppedPeriods": lost.periods.json,
            "missedSamples": JSON(counters.missedSamples), "driftPPM": JSON(counters.drift),
            "reachedLimit": JSON(counters.reachedLimit?.rawValue),
            "inputs": JSON(outcome.statistics.inputs) { input in
                [
                    "device": JSON(input.device), "format": JSON(input.format),
                    "published": JSON(input.published), "drops": JSON(input.drops),
                ]
            },
        ]
    }
}
