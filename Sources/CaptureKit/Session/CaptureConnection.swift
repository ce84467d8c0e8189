import CaptureBus
public import CaptureCore

/// An input that feeds an output of a session.
///
/// Like AVFoundation's class of the same kind, it can be disabled while the session runs: a disabled microphone records
/// silence, and a disabled camera adds no picture, so that the last one stays. A data or buffer output gets nothing, and
/// later goes on with what is captured from then on. The file goes on, and so do the devices, which are shown as in use. Any
/// task may call everything.
public struct CaptureConnection: Sendable {
    let session: CaptureSession
    /// The input's name.
    public let input: String
    /// The output's name.
    public let output: String

    /// Whether samples pass.
    public var isEnabled: Bool {
        get async throws(CaptureError) { try await session.isEnabled(self) }
    }

    /// Enables or disables it, before the start or later. Does nothing if it is so already. A session that starts again
    /// has its connections as they were.
    ///
    /// - Throws: `invalidArgument` if the session has no such connection, or it leads to a photo;
    ///   `wrongState` for a session that is over; `notPermitted` for another program's session.
    public func setEnabled(_ isEnabled: Bool) async throws(CaptureError) {
        try await session.setEnabled(isEnabled, self)
    }
}

extension CaptureSession {
    /// The connection that brings a kind of media to an output; `nil` if the output gets nothing of that kind.
    ///
    /// - Parameters:
    ///   - mediaType: The kind.
    ///   - output: The output's name.
    public func connection(with mediaType: MediaType, to output: String = "movie") -> CaptureConnection? {
        let feeding = connections.filter { $0.output == output }.map(\.input)
        return inputs.first { $0.mediaType == mediaType && feeding.contains($0.name) }
            .map { connection(from: $0.name, to: output) }
    }

    /// The connection of two names, also in a session that was found by its number. Does not check that it exists.
    public nonisolated func connection(from input: String, to output: String) -> CaptureConnection {
        CaptureConnection(session: self, input: input, output: output)
    }

    func setEnabled(_ isEnabled: Bool, _ connection: CaptureConnection) async throws(CaptureError) {
        let pair = ConnectionDescription(input: connection.input, output: connection.output)
        if let hub = await made(), !isToBeMade {
            try await hub.enable(isEnabled, pair)
        } else {
            if !isEnabled { _ = try description.kindToDisable(of: pair) }
        }
        if isEnabled { disabled.remove(pair) } else { disabled.insert(pair) }
        // One that was disabled at the start has no reader yet.
        if isEnabled { await beginIfRunning() }
    }

    func isEnabled(_ connection: CaptureConnection) async throws(CaptureError) -> Bool {
        if !isToBeMade, let output = try await statistics().outputs[connection.output] {
            return !output.disabledInputs.contains(connection.input)
        }
        return !disabled.contains(ConnectionDescription(input: connection.input, output: connection.output))
    }
}
