import CaptureCore

/// Outputs that are saved into the media library.
extension CaptureEngine {
    /// Refuses outputs that cannot be saved as they are described.
    func checkSaving(_ description: SessionDescription) throws(CaptureError) {
        for destination in description.outputs.compactMap(\.library) {
            guard let saver else {
                throw CaptureError(.invalidArgument, "there is no media library to save to; give a file to write to")
            }
            try saver.check(destination)
        }
    }

    /// Waits for the consent to save, where an output asks for that.
    ///
    /// - Parameters:
    ///   - client: Who starts the session, or adds them to it: its maker may be gone by then.
    ///   - mayAsk: Whether the person is asked for what was never decided.
    func authorizeSaving(
        _ outputs: [OutputDescription],
        of session: Session,
        for client: SessionClient,
        mayAsk: Bool
    ) async throws(CaptureError) {
        guard let saver, outputs.contains(where: { $0.library != nil }) else { return }
        try await saver.authorize(client, mayAsk: mayAsk)
        try proceed(session)
        // The question may have stood for minutes, in which the connection may have got to somebody else.
        try await confirmIdentity(of: client)
        try proceed(session)
    }

    /// The file that an output is written to, and the recording in the library if it is one.
    func place(
        of output: OutputDescription,
        madeWith source: SharedSource?,
        in session: Session,
        for client: SessionClient
    ) async throws(CaptureError) -> (file: any OpenFile, recording: (any LibraryRecording)?) {
        if output.library != nil, let saver {
            return try await saver.begin(output, madeWith: source?.device.name ?? "", for: client)
        }
        guard let file = session.files[output.name] else {
            throw CaptureError(.invalidArgument, "output '\(output.name)' came without a file to write to")
        }
        return (file, nil)
    }

    /// A recorder has said what became of its file. What goes into the library is looked at when the recorder is gone, and
    /// writes to it no more.
    func ended(_ output: LiveOutput, _ error: CaptureError?, in session: Session) {
        if output.recording == nil { finished(output, error, in: session) } else { output.report(error) }
    }

    func save(
        _ recording: any LibraryRecording,
        of output: LiveOutput,
        _ error: CaptureError?,
        in session: Session
    ) async {
        var fault = error
        if session.startedAt == nil, session.isEnding {
            fault = error ?? CaptureError(.wrongState, "stopped before it ran")
            await recording.cancel()
        } else if error != nil, output.description.kind == .photo {
            // Half a picture is none.
            await recording.cancel()
        } else {
            do throws(CaptureError) {
                let saved = try await recording.save()
                observer.outputSaved(session.snapshot, output: output.description.name, saved, to: output.connection)
            } catch let refusal {
                fault =
                    error.map { CaptureError($0.code, "\($0.message); \(refusal.message)", errno: $0.errno) } ?? refusal
            }
        }
        if !output.isDone { finished(output, fault, in: session) }
    }
}
