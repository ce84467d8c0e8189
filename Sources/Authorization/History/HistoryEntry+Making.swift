import CaptureCore

extension HistoryEntry {
    /// A use that begins.
    init(_ use: DeviceUse, began: AnswerTime) {
        self.init(
            kind: .use,
            user: use.client.user,
            program: use.client.program,
            tier: use.client.tier,
            service: use.service,
            device: use.device.rawValue,
            deviceName: DisplayText.neutralized(use.deviceName, limit: 100),
            cause: use.basis.rawValue,
            status: .authorized,
            began: began,
            pid: use.client.pid,
            session: use.session
        )
    }

    /// A decision at a moment; `nil` for a yes that stood before and is looked up again, which its use tells of.
    init?(_ decision: Decision, at time: AnswerTime) {
        let stood = decision.cause == .storedAnswer || decision.cause == .policy
        if stood, decision.status.isYes { return nil }
        self.init(
            kind: decision.isSetting ? .setting : .decision,
            user: decision.user,
            program: decision.program,
            tier: decision.tier,
            service: decision.service,
            cause: decision.cause.rawValue,
            status: decision.status,
            began: time,
            ended: time.wall,
            message: DisplayText.neutralized(decision.message, limit: 500),
            pid: decision.pid,
            author: decision.author
        )
    }

    /// Whether it took no person, so that a program can have as many as it likes: such are counted, not listed.
    var isRepeatable: Bool {
        let persons: [Decision.Cause] = [.answer, .inlineAnswer, .confirmation, .picked, .taken]
        return kind == .decision && !persons.contains { $0.rawValue == cause }
    }

    /// What it has in common with those that are counted with it.
    var repetition: [String] {
        [kind.rawValue, "\(user)", program, service.rawValue, status.word, cause]
    }
}

extension Decision {
    /// Whether an answer was changed, or came to its end, without a prompt.
    var isSetting: Bool { cause == .settings || cause == .expired }
}
