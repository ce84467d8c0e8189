public import CaptureCore

/// Connections that are enabled and disabled.
extension CaptureEngine {
    /// Enables or disables a connection: a disabled microphone records silence, a disabled camera adds no picture, and a
    /// buffer gets nothing. Files and streams go on, devices stay open, and in use. Does nothing if it is so already.
    ///
    /// When it returns, nothing more is published where the client of a disabled buffer can see it. A driver that writes into
    /// the ring itself fills the few slots that it was handed before. Enabled again, the buffer gets what is captured from
    /// then on.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for a connection that does not exist or leads to a
    ///   photo; `wrongState` for a session that is over.
    public func setEnabled(
        _ isEnabled: Bool,
        _ id: UInt32,
        from input: String,
        to output: String,
        client: SessionClient
    ) async throws(CaptureError) {
        let session = try alive(id, by: client)
        let connection = ConnectionDescription(input: input, output: output)
        let kind = try session.description.kindToDisable(of: connection)
        guard isEnabled == session.disabled.contains(connection) else { return }
        session.setEnabled(isEnabled, connection)
        if let live = session.outputs[output], live.description.kind == .buffer {
            await shown.turn(live, isEnabled, of: session, on: self)
        } else {
            session.outputs[output]?.working?.setEnabled(isEnabled, kind)
        }
    }
}
