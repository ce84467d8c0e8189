import CaptureKit

/// Sessions as rows, as text and as JSON.
enum SessionPresentation {
    /// Live sessions first, then the ended ones if `all` is true, each in the order of their numbers.
    static func ordered(_ sessions: [SessionSummary], all: Bool) -> [SessionSummary] {
        let sorted = sessions.sorted { $0.id < $1.id }
        let live = sorted.filter { !$0.status.state.isFinal }
        return all ? live + sorted.filter(\.status.state.isFinal) : live
    }

    static func table(_ sessions: [SessionSummary]) -> Table {
        var table = Table([
            ">ID", "STATE", .optional("USER"), .name("PROGRAM"), .text("INPUTS"), .optional("OUTPUTS"), .text("REASON"),
        ])
        for session in sessions {
            table.add([
                "\(session.id)", session.status.state.rawValue, session.user, session.program,
                (session.description?.inputs ?? []).map(\.name).joined(separator: " "),
                (session.description?.outputs ?? []).map(outputText).joined(separator: " "),
                session.status.reason?.message ?? "",
            ])
        }
        return table
    }

    static func text(_ session: SessionSummary, _ statistics: SessionStatistics) -> String {
        let attached = session.isAttached ? "ends with its program" : "goes on by itself"
        var lines = [
            "session \(session.id): \(session.status.state.rawValue), \(Quantities.time(statistics.elapsed)), \(attached)",
            "  program \(Printable.text(session.program)), user \(Printable.text(session.user))",
        ]
        if let reason = session.status.reason {
            lines.append("  reason: \(Printable.text(reason.message, limit: 1000))")
        }
        for (name, input) in statistics.inputs.sorted(by: { $0.key < $1.key }) {
            lines.append("  input \(name): \(Printable.text(input.device)), \(Printable.text(input.format))")
            let drops = input.drops.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            let lost = drops.isEmpty ? "none" : drops.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            lines.append(
                "    \(input.published) published, dropped: \(lost), latency \(milliseconds(input.latency)) ms, "
                    + "\(input.queueDepth) in the ring"
            )
        }
        for (name, output) in statistics.outputs.sorted(by: { $0.key < $1.key }) {
            let kind = session.description?.outputs.first { $0.name == name }.map(outputText) ?? name
            lines.append(
                "  output \(name): \(kind), \(Quantities.time(output.duration)), \(Quantities.size(output.bytes))"
                    + (output.isPaused ? ", paused" : "") + (output.isWaiting ? ", waiting to be begun" : "")
                    + (output.preRollIsFull ? ", its memory is full" : "")
                    + output.disabledInputs.map { ", \(Printable.text($0)) disabled" }.joined()
                    + (output.reachedLimit.map { ", \(words(for: $0))" } ?? "")
                    + (session.description?.outputs.first { $0.name == name }.map(settingsText) ?? "")
            )
            lines.append(
                "    \(Quantities.count(output.frames, "frame")), \(Quantities.count(output.samples, "sample frame")), "
                    + "\(output.missedFrames) missed, \(output.queueDepth) waiting, encoders: "
                    + [output.videoEncoder, output.audioEncoder].filter { !$0.isEmpty }.joined(separator: " + ")
            )
        }
        return lines.joined(separator: "\n")
    }

    static func json(_ session: SessionSummary, _ statistics: SessionStatistics? = nil) -> JSON {
        let session: JSON = [
            "id": .id(session.id), "state": JSON(session.status.state.rawValue),
            "reasonCode": JSON(session.status.reason?.code.rawValue),
            "reason": JSON(session.status.reason?.message), "program": JSON(session.program),
            "user": JSON(session.user), "attached": JSON(session.isAttached),
            "inputs": session.description.map { .array($0.inputs.map(json)) } ?? .null,
            "outputs": session.description.map { .array($0.outputs.map(json)) } ?? .null,
        ]
        return statistics.map { session.with(["statistics": json($0)]) } ?? session
    }

    private static func json(_ input: InputDescription) -> JSON {
        ["name": JSON(input.name), "kind": JSON(input.mediaType.rawValue), "device": JSON(input.device)]
    }

    private static func json(_ output: OutputDescription) -> JSON {
        [
            "name": JSON(output.name), "kind": JSON(output.kind.rawValue), "format": JSON(output.format),
            "rotation": JSON(output.settings.rotation), "isMirrored": JSON(output.settings.isMirrored),
            "channels": .array(output.settings.channels.map { JSON($0) }), "gain": JSON(output.settings.gain),
        ]
    }

    static func json(_ statistics: SessionStatistics) -> JSON {
        [
            "elapsed": .seconds(nanoseconds: statistics.elapsed),
            "inputs": JSON(statistics.inputs, json), "outputs": JSON(statistics.outputs, json),
        ]
    }

    private static func json(_ input: InputStatistics) -> JSON {
        [
            "device": JSON(input.device), "format": JSON(input.format), "published": JSON(input.published),
            "drops": JSON(input.drops), "latency": .seconds(nanoseconds: input.latency),
            "queueDepth": JSON(input.queueDepth), "copiedBytes": input.copiedBytes.map { JSON($0) } ?? .null,
        ]
    }

    static func json(_ output: OutputStatistics) -> JSON {
        [
            "frames": JSON(output.frames), "samples": JSON(output.samples), "missedFrames": JSON(output.missedFrames),
            "missedSamples": JSON(output.missedSamples), "items": JSON(output.items), "silence": JSON(output.silence),
            "bytes": JSON(output.bytes),
            "start": output.start > 0 ? .time(nanoseconds: output.start) : .null,
            "duration": .seconds(nanoseconds: output.duration), "peak": JSON(Double(output.peak) / 1000),
            "driftPPM": JSON(output.drift), "queueDepth": JSON(output.queueDepth),
            "videoEncoder": JSON(output.videoEncoder), "encoderPreset": JSON(output.encoderPreset),
            "audioEncoder": JSON(output.audioEncoder), "isPaused": JSON(output.isPaused),
            "isWaiting": JSON(output.isWaiting),
            "preRollIsFull": JSON(output.preRollIsFull),
            "disabledInputs": .array(output.disabledInputs.map { JSON($0) }),
            "reachedLimit": JSON(output.reachedLimit?.rawValue),
            "levels": .array(output.levels.map { ["average": JSON($0.average), "peak": JSON($0.peak)] }),
        ]
    }

    /// How a limit ended an output.
    static func words(for limit: RecordingLimit) -> String {
        switch limit {
        case .duration: "ended by its duration"
        case .frameCount: "ended by its number of frames"
        case .fileSize: "ended by its greatest size"
        case .freeSpace: "ended to keep the disk's least free space"
        }
    }

    /// `movie/mkv`, `photo/jpeg to library`, `buffer`.
    private static func outputText(_ output: OutputDescription) -> String {
        let text = output.format.isEmpty ? output.kind.rawValue : "\(output.kind.rawValue)/\(output.format)"
        return output.library == nil ? text : text + " to library"
    }

    /// `, rotated by 90 degrees, mirrored, channels 1 2, gain +6 dB`: what is not as usual.
    private static func settingsText(_ output: OutputDescription) -> String {
        let settings = output.settings
        var parts: [String] = []
        if settings.rotation != 0 { parts.append("rotated by \(settings.rotation) degrees") }
        if settings.isMirrored { parts.append("mirrored") }
        if !settings.channels.isEmpty {
            parts.append("channels \(settings.channels.map { "\($0 + 1)" }.joined(separator: " "))")
        }
        if settings.gain != 0 { parts.append("gain \(Quantities.gain(settings.gain))") }
        return parts.map { ", \($0)" }.joined()
    }

    private static func milliseconds(_ nanoseconds: Int64) -> String {
        Quantities.tenth(Double(nanoseconds) / 1e6)
    }
}
