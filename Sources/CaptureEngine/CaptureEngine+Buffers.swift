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
        let session = try sessions.find(id, for: client)
        return try await shown.open(for: session, on: self) { () throws(CaptureError) in
            try reading(name, of: id, by: client)
        }
    }

    /// The input whose ring a client may be given now.
    private func reading(_ name: String, of id: UInt32, by client: SessionClient) throws(CaptureError) -> LiveInput {
        let session = try sessions.find(id, for: client)
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
        return live
    }
}
