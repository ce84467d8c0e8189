import CaptureKit

extension SessionRun {
    /// Runs a session of one input into a pipe until it is told to end or its reader leaves.
    static func stream(
        _ input: CaptureDeviceInput,
        into output: some CaptureOutput,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) {
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(input)
        try await session.addOutput(output)
        let run = SessionRun(session: session, output: output.name)
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        // Standard output is the stream's.
        let summary = RecordingSummary(file: nil, format: "", outcome: outcome)
        if let losses = summary.losses { Output.message(losses) }
        if let error = outcome.error { throw error }
    }

    /// Takes a photo of a running session.
    static func addPhoto(
        _ output: PhotoOutput,
        _ settings: ConnectionSettings,
        to id: UInt32,
        _ file: OutputFile?,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> SessionOutcome {
        guard let summary = try await daemon.sessions().first(where: { $0.id == id }) else {
            throw CaptureError(.noSuchSession, "there is no session \(id)")
        }
        guard let camera = summary.description?.inputs.first(where: \.mediaType.isFrames) else {
            throw CaptureError(.noSuchDevice, "session \(id) has no camera")
        }
        if output.description.library != nil {
            // A session that runs is added to without a question.
            try await InlineAgent.during(daemon) { () async throws(CaptureError) in
                try await MediaLibrary(on: daemon).requestSaving()
            }
        }
        let session = try await CaptureSession.session(id, on: daemon)
        let name = output.name
        let events = try await session.events()
        try await session.addOutput(output, fedBy: [camera.name], settings: settings)
        for await event in events {
            switch event {
            case .finished(let result) where result.name == name:
                if let error = result.error { throw error }
                try file?.keep()
                var statistics = SessionStatistics()
                statistics.outputs[name] = result.statistics
                return SessionOutcome(statistics: statistics, output: name, saved: result.saved)
            case .changed(let status) where status.state.isFinal:
                throw status.reason ?? CaptureError(.noSuchSession, "session \(id) ended before the photo was taken")
            default: continue
            }
        }
        throw CaptureError(.dismissed, "interrupted before the photo was taken")
    }
}
