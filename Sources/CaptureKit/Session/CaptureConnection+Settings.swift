import CaptureBus
public import CaptureCore

/// Settings of a connection.
extension CaptureConnection {
    /// How the pictures are turned and mirrored, and what becomes of the sound, of the connection's output.
    ///
    /// - Throws: `noSuchSession` for a session found by its number that is gone; `unreachable` without a daemon.
    public var settings: ConnectionSettings {
        get async throws(CaptureError) { try await session.settings(of: self) }
    }

    /// Mirrors the pictures left to right, before they are turned. A movie says so to its players, and a JPEG by its EXIF
    /// orientation; a PNG is mirrored itself.
    ///
    /// - Throws: `invalidArgument` if the session has no such connection, its input is no camera, or its output no movie and
    ///   no photo; `wrongState` once the output has begun, and for a session that was found by its number.
    public func setVideoMirrored(_ isMirrored: Bool) async throws(CaptureError) {
        try await session.adjust(self, .video) { $0.isMirrored = isMirrored }
    }

    /// Turns the pictures clockwise by 0, 90, 180 or 270 degrees, as `setVideoMirrored` mirrors them.
    ///
    /// - Throws: As `setVideoMirrored`; `invalidArgument` also for another angle.
    public func setVideoRotationAngle(_ degrees: Int) async throws(CaptureError) {
        try await session.adjust(self, .video) { $0.rotation = degrees }
    }

    /// Takes some channels of the microphone alone, counted from 0, in the given order; all for an empty list. The start
    /// fails if the microphone lacks one.
    ///
    /// - Throws: `invalidArgument` if the session has no such connection, its input is no microphone, its output no movie and
    ///   no sound, or a channel is named twice or out of range; `wrongState` as `setVideoMirrored`.
    public func setChannels(_ channels: [Int]) async throws(CaptureError) {
        try await session.adjust(self, .audio) { $0.channels = channels }
    }

    /// Makes the sound louder, or less loud, before the start or while it runs, over 5 ms. Sound that becomes louder than
    /// full scale is cut.
    ///
    /// - Parameter decibels: -60 to 40; 0 for sound as it comes.
    /// - Throws: `invalidArgument` if the session has no such connection, its input is no microphone, its output no movie and
    ///   no sound, or the gain is out of range; `wrongState` for a session that is over; `notPermitted` for another program's.
    public func setGain(_ decibels: Double) async throws(CaptureError) {
        try await session.setGain(decibels, self)
    }

    /// How loud each channel is from now on, twenty times a second while sound comes, with the gain. A disabled microphone
    /// is silent. A reader who is slow gets the newest levels alone. Ends with the session.
    ///
    /// - Throws: `invalidArgument` as `audioChannels`, and if the output records no sound; `wrongState` for a session that is over; `busy` if 16
    ///   connections read them already. This call creates the session in the daemon.
    public func audioLevels() async throws(CaptureError) -> AsyncStream<[AudioLevel]> {
        try await session.audioLevels(of: self)
    }

    /// How loud each channel is now; empty before sound comes.
    ///
    /// - Throws: `invalidArgument` if the session has no such connection, or its input is no microphone; `unreachable` without
    ///   a daemon.
    public var audioChannels: [AudioLevel] {
        get async throws(CaptureError) {
            try await session.checkSound(of: self)
            return try await session.statistics().outputs[output]?.levels ?? []
        }
    }
}

extension CaptureSession {
    func settings(of connection: CaptureConnection) async throws(CaptureError) -> ConnectionSettings {
        try await description(with: connection).outputs.first { $0.name == connection.output }?.settings
            ?? ConnectionSettings()
    }

    /// The description that has a connection's output: this object's own, or the daemon's of a session that was found by its
    /// number.
    private func description(with connection: CaptureConnection) async throws(CaptureError) -> SessionDescription {
        if description.outputs.contains(where: { $0.name == connection.output }) { return description }
        guard let id else { return description }
        guard let found = try await daemon.sessions().first(where: { $0.id == id })?.description else {
            throw CaptureError(.noSuchSession, "the session is gone")
        }
        return found
    }

    /// Refuses a connection that is not one of a microphone.
    func checkSound(of connection: CaptureConnection) async throws(CaptureError) {
        let described = ConnectionDescription(input: connection.input, output: connection.output)
        guard try await description(with: connection).parts(of: described).input.mediaType == .audio else {
            throw CaptureError(.invalidArgument, "the input '\(Printable.text(connection.input))' is no microphone")
        }
    }

    func setGain(_ decibels: Double, _ connection: CaptureConnection) async throws(CaptureError) {
        guard let hub = await made(), !isToBeMade, knows(connection.output) else {
            return try await adjust(connection, .audio) { $0.gain = decibels }
        }
        try await checkSound(of: connection)
        try await hub.call("SetGain", [.string(connection.output), .double(decibels)])
        noteGain(decibels, of: connection.output)
    }

    func audioLevels(of connection: CaptureConnection) async throws(CaptureError) -> AsyncStream<[AudioLevel]> {
        try await checkSound(of: connection)
        if isToBeMade { try await renew() }
        return try await create().levels(of: connection.output)
    }
}
