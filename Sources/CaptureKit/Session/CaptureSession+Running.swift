import CaptureBus
public import CaptureCore
import CaptureMessages

extension CaptureSession {
    /// A session of the daemon's, by its number: to watch, to stop, to take a photo of.
    ///
    /// - Throws: `CaptureError.Code.noSuchSession` if the session does not exist, or belongs to another user.
    public static func session(
        _ id: UInt32,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> CaptureSession {
        let daemon = try await CaptureDaemon.given(daemon)
        let hub = SessionHub(daemon, path: CaptureNames.sessionPath(id))
        try await hub.connect(isOwn: false)
        return CaptureSession(daemon, hub)
    }

    /// The session's number in the daemon; `nil` before its start.
    public var id: UInt32? { hub.flatMap { CaptureNames.sessionNumber($0.path) } }

    /// Where the session stands.
    public var status: SessionStatus { hub?.status ?? SessionStatus(.configured) }

    /// The results of the finished outputs.
    public var results: [OutputResult] { hub?.results ?? [] }

    /// Whether it streams.
    public var isRunning: Bool { status.state == .running }

    /// Whether it is interrupted for a while, as `status.interruption` says: nothing is delivered, and it goes on by itself
    /// when that is over. A change of state tells that it was interrupted, and one to `running` that this has ended.
    public var isInterrupted: Bool { status.state == .suspended }

    /// What happens from now on, beginning with how things stand, ending after the final state. Another start has events
    /// of its own.
    ///
    /// - Throws: The daemon's refusal: this call creates the session there.
    public func events() async throws(CaptureError) -> AsyncStream<SessionEvent> {
        try await create().events()
    }

    /// Where the session stands from now on, beginning with now, ending with the final state.
    ///
    /// - Throws: The daemon's refusal: this call creates the session there.
    public func states() async throws(CaptureError) -> some AsyncSequence<SessionStatus, Never> & Sendable {
        try await events().compactMap { event -> SessionStatus? in
            if case .changed(let status) = event { status } else { nil }
        }
    }

    /// Asks the daemon to start and returns at once: a person may have to be asked first.
    ///
    /// A session that is over starts again, as another one of the daemon's. Its inputs, connections and buffers are as
    /// before. Outputs whose files are finished are not part of it any more: add new ones first, under the same names if
    /// you like.
    ///
    /// - Throws: The daemon's refusal, if it refuses before it asks anyone; `wrongState` for a session that is over and was
    ///   found by its number.
    public func start() async throws(CaptureError) {
        try await renew()
        try await create().start()
    }

    /// Starts, or starts again as `start` does, and waits until samples flow. If consent was never given, it also waits for
    /// the person's answer.
    ///
    /// - Throws: Why it did not come to that: a refusal, a device that is busy, nobody there to ask. When the task is
    ///   cancelled, the session is stopped and `dismissed` is thrown.
    public func startRunning() async throws(CaptureError) {
        try await renew()
        let events = try await events()
        try await start()
        for await event in events {
            guard case .changed(let status) = event else { continue }
            if status.state == .running {
                guard let error = await beginBuffers() else { return }
                // A start that throws leaves nothing running. If the stop fails, the session has ended by itself.
                _ = try? await stop()
                throw error
            }
            if status.state.isFinal { throw CaptureSession.failure(status) }
        }
        try await stop()
        throw CaptureError(.dismissed, "the start was cancelled")
    }

    /// Asks the daemon to stop and returns at once, while files are being finished. Works in a cancelled task, too.
    public func stop() async throws(CaptureError) {
        try await made()?.stop()
    }

    /// Stops and waits until every file is finished, even in a cancelled task.
    ///
    /// - Throws: Why it ended otherwise than asked.
    public func stopRunning() async throws(CaptureError) {
        guard let hub = await made() else { return }
        try await hub.stop()
        let status = await hub.ended()
        if status.state != .stopped { throw CaptureSession.failure(status) }
    }

    /// Pauses a movie or a sound: what is captured from now on is not in its file, until `resumeRecording`. The devices
    /// stay open, and are shown as in use. Does nothing if it is paused already.
    ///
    /// - Parameter output: The output's name.
    /// - Throws: `invalidArgument` for an output that does not exist or is no movie and no sound; `wrongState` unless it
    ///   records; `notPermitted` for another program's session.
    public func pauseRecording(_ output: String = "movie") async throws(CaptureError) {
        try await create().call("PauseOutput", [.string(output)])
    }

    /// Has a paused movie or sound go on. The timeline of its file closes up: the first picture follows the last one
    /// before the pause, and sound fades over five milliseconds. A movie without metadata, and sound in M4A, has a chapter
    /// there, whose title is the time by the clock. Does nothing if it is not paused.
    ///
    /// - Throws: As `pauseRecording`.
    public func resumeRecording(_ output: String = "movie") async throws(CaptureError) {
        try await create().call("ResumeOutput", [.string(output)])
    }

    /// Marks this moment in a recording: a chapter begins there, which players can jump to. A file that is not finished, for
    /// example after a power cut, has no chapters, and players find none in a movie that went through a pipe.
    ///
    /// - Parameters:
    ///   - title: One line of at most 255 bytes, which players show.
    ///   - output: The output's name: a movie, or a sound in M4A.
    /// - Throws: `invalidArgument` for a title that is too long, and for an output that does not exist or has no chapters;
    ///   `overQuota` after 255 of them; `wrongState` unless it records; `notPermitted` for another program's session.
    public func mark(_ title: String = "", in output: String = "movie") async throws(CaptureError) {
        try await create().call("MarkOutput", [.string(output), .string(title)])
    }

    /// Puts metadata into the track that a movie has for it. It tells of now, or of a time of its own. A time before the
    /// movie's beginning counts as the beginning. Metadata of a pause, or of a time after the end, is left out.
    ///
    /// - Parameters:
    ///   - metadata: At most 1000 in a second; times at most a second ahead. More than 64, or than 32768 bytes, go over in
    ///     several calls: if one of them is refused, the movie has those before.
    ///   - output: The output's name.
    /// - Throws: `invalidArgument` for an output that does not exist or has no metadata, and for a time far ahead. `overQuota`
    ///   for more than it takes in a second. `busy` if its recorder is behind: the same can be told again in a moment.
    ///   `wrongState` unless it records, and for metadata of now while it is paused. `notPermitted` for another program's
    ///   session.
    public func append(_ metadata: [TimedMetadata], to output: String = "movie") async throws(CaptureError) {
        let hub = try await create()
        for part in TimedMetadata.parts(of: metadata) {
            try await hub.call("AppendMetadata", [.string(output), part.busValue])
        }
    }

    /// Has a movie with a pre-roll begin, with what was kept until now. Does nothing if it is begun already.
    ///
    /// - Parameters:
    ///   - output: The output's name.
    ///   - start: From when on it has what was kept, as buffers tell their time; `nil` for as far back as the pre-roll goes.
    /// - Throws: `invalidArgument` for an output that does not exist or has no pre-roll; `wrongState` unless the session runs;
    ///   `notPermitted` for another program's session.
    public func beginRecording(_ output: String = "movie", from start: Timestamp? = nil) async throws(CaptureError) {
        try await create().call("BeginOutput", [.string(output), .int64(max(start?.nanoseconds ?? 0, 0))])
    }

    /// Has a movie in segments go on in the next file, with what is captured from now on. Does not wait for that: the cut
    /// lies before a picture, of a copied stream before a keyframe, and comes once the file is there.
    ///
    /// - Parameter output: The output's name.
    /// - Throws: `invalidArgument` for an output that does not exist or has no segments; `wrongState` unless it records;
    ///   `notPermitted` for another program's session.
    public func cut(_ output: String = "movie") async throws(CaptureError) {
        try await create().call("CutOutput", [.string(output)])
    }

    /// Hands over a file in which a movie in segments goes on later. `SegmentFiles` does this for a whole recording.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing.
    ///   - output: The output's name.
    /// - Throws: As `cut`; `busy` if eight files wait already; `invalidArgument` for a file that an output writes already.
    public func addSegment(_ file: Descriptor, to output: String = "movie") async throws(CaptureError) {
        try await create().call("AddSegment", [.string(output), .descriptor(file)])
    }

    /// The counters now.
    public func statistics() async throws(CaptureError) -> SessionStatistics {
        guard let hub else { return SessionStatistics() }
        let answer = try await hub.call("GetStatistics")
        return try SessionStatistics(busValue: try CaptureDaemon.understood(answer.first, "GetStatistics"))
    }

    /// Adds an output to a session of the daemon that was found by its number, fed by the named inputs. Asks nobody: an
    /// output for the media library needs a consent that was given before, for example with
    /// `MediaLibrary.requestSaving()`.
    ///
    /// - Parameters:
    ///   - output: The output.
    ///   - inputs: The names of its inputs.
    ///   - settings: How its pictures are turned and mirrored, and what becomes of its sound.
    /// - Throws: The daemon's refusal; `usage` for an output that only the program that made the session can add.
    public func addOutput(
        _ output: any CaptureOutput,
        fedBy inputs: [String],
        settings: ConnectionSettings = ConnectionSettings()
    ) async throws(CaptureError) {
        let hub = try await create()
        guard output.file != nil || output.description.library != nil else {
            throw CaptureError(
                .usage,
                "the output '\(output.name)' writes no file, so only the program that made the session can add it"
            )
        }
        let file = output.file.map { BusValue.descriptor($0) } ?? .string("")
        var description = output.limitedDescription
        description.settings = settings
        try await hub.call(
            "AddOutput",
            [description.busValue, .strings(inputs), file],
            timeout: SessionHub.patience
        )
    }

    /// Why a session ended otherwise than asked.
    static func failure(_ status: SessionStatus) -> CaptureError {
        if let reason = status.reason { return reason }
        return CaptureError(.internalFault, "the session is \(status.state.rawValue), and the daemon does not say why")
    }
}
