import CaptureCore

/// A session in the daemon, as the daemon last accepted it.
struct MadeSession {
    let hub: SessionHub
    /// Starts the reading of buffer outputs whenever the session runs.
    let following: Task<Void, Never>?
    var draft = SessionDraft()
    var description = SessionDescription(inputs: [], outputs: [], connections: [])
    /// For each output's number: how often outputs of its name had finished before it was added.
    var ends: [Int: Int] = [:]

    /// Whether it is a session of this object's that can only start again.
    var isOver: Bool { following != nil && hub.status.state.isFinal }

    /// Whether an output of a draft was started, or is another program's.
    func hasBegun(_ output: String, in draft: SessionDraft) -> Bool {
        guard following != nil else { return true }
        guard hub.isStarted, let entry = draft.entries.first(where: { $0.name == output }) else { return false }
        return self.draft.entries.contains { $0.number == entry.number } && !isFinished(entry)
    }

    /// Whether an output has finished.
    func isFinished(_ entry: SessionDraft.Entry) -> Bool { hub.ends(of: entry.name) > ends[entry.number] ?? 0 }

    /// Checks that outputs to be replaced have finished.
    ///
    /// - Returns: The names of the new ones that are saved into the media library.
    func replaced(by wanted: SessionDraft) throws(CaptureError) -> [String] {
        guard hub.isStarted else { return [] }
        var names: [String] = []
        for entry in wanted.entries where entry.output.description.kind != .buffer {
            guard let before = draft.entries.first(where: { $0.name == entry.name }), before.number != entry.number
            else { continue }
            guard isFinished(before) else {
                throw CaptureError(
                    .invalidArgument,
                    "output '\(entry.name)' is running; give a changed output another name"
                )
            }
            if entry.output.description.library != nil { names.append(entry.name) }
        }
        return names
    }
}
