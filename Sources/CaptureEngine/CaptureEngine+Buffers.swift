import Authorization
public import CaptureCore

/// The rings that clients map.
extension CaptureEngine {
    /// The ring behind an output of kind `buffer`, for the connection that made the session.
    ///
    /// Nothing in it was captured before the session joined the device: where others kept it streaming, it goes on in
    /// another ring first, without a loss to them.
    ///
    /// - Throws: Why the start failed, if it did; `.wrongState` unless the session runs; `.notPermitted` for anyone but
    ///   its maker.
    public func openBuffer(_ id: UInt32, output name: String, client: SessionClient) async throws(CaptureError)
        -> any OpenFile
    {
        let (session, input) = try reading(name, of: id, by: client)
        guard let older = session.older(input), !isSeen(older, by: session) else { return session.show(input) }
        try await leave(older, of: input.shared)
        // Much may have happened meanwhile.
        let (_, now) = try reading(name, of: id, by: client)
        if let older = session.older(now), !isSeen(older, by: session) {
            throw CaptureError(.wrongState, "\(now.shared.device.name) is stopping; start again")
        }
        return session.show(now)
    }

    /// Lets a device go on in another ring than one that is not for who joins it.
    ///
    /// - Throws: Why there is no other; nobody else loses anything by that.
    private func leave(_ older: any MediaRing, of shared: SharedSource) async throws(CaptureError) {
        do throws(CaptureError) {
            try await pool.move(shared.device.id, from: older, atOnce: false)
        } catch {
            if shared.ring === older { throw error }
            // It has left that one, and does not go on in the other.
            await interrupt(shared.device.id, whose: "session began", error)
        }
    }

    /// The input whose ring a client may be given now.
    private func reading(_ name: String, of id: UInt32, by client: SessionClient)
        throws(CaptureError) -> (Session, LiveInput)
    {
        let session = try session(id, for: client)
        guard session.client.connection == client.connection, session.client.identity == client.identity else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may have its buffers")
        }
        if let refusal = session.refusal { throw refusal }
        guard session.state == .running, !session.isEnding else {
            throw CaptureError(.wrongState, "session \(id) is \(session.doing), not running")
        }
        guard let output = session.outputs[name], output.description.kind == .buffer,
            let input = session.description.inputs(of: name).first, let live = session.inputs[input.name]
        else { throw CaptureError(.invalidArgument, "session \(id) has no output '\(name)' of kind buffer") }
        let service = Service(input.mediaType)
        guard let grant = session.grants[service], grant.isLive else {
            throw session.grants[service]?.withdrawal ?? Grant.withdrawal(of: service, "")
        }
        return (session, live)
    }

    /// Whether a session's client has a ring mapped already, by another session of the same process.
    func isSeen(_ ring: any MediaRing, by session: Session) -> Bool {
        sessions.values.contains { $0.sees(ring, like: session) }
    }
}

extension Session {
    /// The ring that an input writes, where it holds what was captured before the session joined.
    fileprivate func older(_ input: LiveInput) -> (any MediaRing)? {
        let ring = input.shared.ring
        return input.older === ring ? ring : nil
    }

    fileprivate func show(_ input: LiveInput) -> any OpenFile {
        let ring = input.shared.ring
        shown[input.shared.device.id] = ring
        return ring.file
    }

    /// Whether its client, the same process as another session's, goes on with a ring that both were given: what was
    /// allowed to one process of a program need not be to another.
    fileprivate func sees(_ ring: any MediaRing, like other: Session) -> Bool {
        id != other.id && !isEnding && !state.isFinal && shown.values.contains { $0 === ring }
            && client.identity == other.client.identity
    }
}
