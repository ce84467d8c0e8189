import Authorization
import CaptureCore

/// One writer a file: two recorders would each write over what the other wrote.
extension CaptureEngine {
    /// Refuses files that an output writes already. What is allowed has to be in its session before anything is awaited.
    ///
    /// - Parameters:
    ///   - files: The files that come anew, by output.
    ///   - kept: The outputs of the same session that go on writing, with their files.
    ///   - id: That session, if it is there yet.
    /// - Throws: `.invalidArgument` naming the output, and who writes its file.
    func refuseShared(
        _ files: [String: any OpenFile],
        beside kept: [String: FileIdentity],
        of id: UInt32?,
        for client: SessionClient
    ) throws(CaptureError) {
        var writers: [FileIdentity: String] = [:]
        for (name, identity) in kept { writers[identity] = name }
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            guard let identity = file.identity else { continue }
            if let other = writers.updateValue(name, forKey: identity) {
                throw CaptureError(
                    .invalidArgument,
                    "the outputs '\(other)' and '\(name)' have the same file; give each its own"
                )
            }
            for session in sessions.values where session.id != id {
                guard let other = session.written.first(where: { $0.value == identity })?.key else { continue }
                // Whose session it is, is no business of other users.
                let who =
                    client.mayControl(session.client.identity)
                    ? "the output '\(other)' of session \(session.id)" : "another session"
                throw CaptureError(
                    .invalidArgument,
                    "the file for the output '\(name)' is already being written by \(who); give it its own"
                )
            }
        }
    }
}

extension Session {
    /// The files that its outputs write or will write, by output; those of outputs that are done are free again.
    var written: [String: FileIdentity] {
        if state.isFinal { return [:] }
        let waiting = files.compactMapValues(\.identity)
        return outputs.filter { !$0.value.isDone }.compactMapValues(\.file).merging(waiting) { $1 }
    }
}
