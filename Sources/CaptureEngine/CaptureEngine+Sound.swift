import Authorization
public import CaptureCore

/// The gain of connections, and the connections of the bus that receive levels.
extension CaptureEngine {
    /// How many connections hear of an output's levels at a time.
    private static let mostWatchers = 16

    /// Sets the gain of a movie's or a sound's microphone, before the start or later.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for a gain out of range, an output that does not exist
    ///   or cannot have a gain; `wrongState` for a session that is over.
    public func setGain(_ gain: Double, _ id: UInt32, output name: String, client: SessionClient) throws(CaptureError) {
        let session = try alive(id, by: client)
        let place = try self.place(of: name, in: session)
        var output = session.description.outputs[place]
        output.settings.gain = gain
        try output.settings.check()
        try output.checkGain(hasSound: session.description.inputs(of: name).contains { $0.mediaType == .audio })
        guard output != session.description.outputs[place] else { return }
        session.description.outputs[place] = output
        session.outputs[name]?.working?.setGain(gain)
        observer.sessionChanged(session.snapshot)
    }

    /// Starts or stops sending the levels of an output's sound to a connection, twenty times a second. It stops when it was
    /// stopped as often as it was started.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for an output that does not exist or records no sound;
    ///   `busy` if 16 connections are told already; `wrongState` for a session that is over.
    public func watchLevels(
        _ isWatched: Bool,
        _ id: UInt32,
        output name: String,
        client: SessionClient
    ) throws(CaptureError) {
        guard client.isOnBus else { throw CaptureError(.invalidArgument, "levels are only sent over the bus") }
        let session = try alive(id, by: client)
        let output = session.description.outputs[try place(of: name, in: session)]
        guard [.movie, .sound, .samples].contains(output.kind),
            session.description.inputs(of: name).contains(where: { $0.mediaType == .audio })
        else {
            throw CaptureError(.invalidArgument, "the output '\(name)' records no sound, so it has no levels")
        }
        var watchers = session.levelWatchers[name] ?? [:]
        let wasWatched = !watchers.isEmpty
        let before = watchers[client.connection] ?? 0
        guard !isWatched || before > 0 || watchers.count < Self.mostWatchers else {
            throw CaptureError(
                .busy,
                "\(Self.mostWatchers) connections already receive the levels of '\(name)'; stop one of them first"
            )
        }
        let after = before + (isWatched ? 1 : -1)
        watchers[client.connection] = after > 0 ? after : nil
        session.levelWatchers[name] = watchers
        if wasWatched == watchers.isEmpty { session.outputs[name]?.working?.watchLevels(!watchers.isEmpty) }
    }

    /// A connection left the bus, and hears of no levels any more.
    func forgetLevels(for connection: String) {
        for session in sessions.values {
            for (name, watchers) in session.levelWatchers where watchers[connection] != nil {
                session.levelWatchers[name]?[connection] = nil
                if watchers.count == 1 { session.outputs[name]?.working?.watchLevels(false) }
            }
        }
    }

    /// The session of a number, for a client that may change it while it is not over.
    func alive(_ id: UInt32, by client: SessionClient) throws(CaptureError) -> Session {
        let session = try changeable(id, by: client)
        try session.checkAlive()
        return session
    }

    /// Where an output stands in a session's description.
    ///
    /// - Throws: `invalidArgument` naming the outputs that there are.
    func place(of name: String, in session: Session) throws(CaptureError) -> Int {
        if let place = session.description.outputs.firstIndex(where: { $0.name == name }) { return place }
        let known = session.description.outputs.map(\.name).joined(separator: ", ")
        throw CaptureError(.invalidArgument, "session \(session.id) has no output '\(name)'; it has: \(known)")
    }
}

extension SessionDescription {
    /// The same with the gains that the outputs of another have now, but for some by name: what runs keeps its gain.
    func withGains(of now: SessionDescription, except new: Set<String>) -> SessionDescription {
        var changed = self
        for place in outputs.indices where !new.contains(outputs[place].name) {
            guard let before = now.outputs.first(where: { $0.name == outputs[place].name }) else { continue }
            changed.outputs[place].settings.gain = before.settings.gain
        }
        return changed
    }
}
