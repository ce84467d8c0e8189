import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// What the journal is told of sessions and decisions, with fields that can be searched for:
/// `journalctl CAPTURE_PROGRAM=exe:/usr/bin/capturectl`.
enum SessionJournal {
    /// - Parameter isNewState: False when its inputs or outputs changed, and its state and its reason did not.
    static func record(_ session: SessionSnapshot, isNewState: Bool) {
        let devices = session.description.inputs.map { $0.device ?? "first \($0.mediaType.rawValue)" }
        Journal.send(
            DisplayText.neutralized(sentence(on: session, isNewState: isNewState), limit: 2000),
            priority: [.failed, .interrupted, .suspended].contains(session.state) ? .warning : .info,
            fields: [
                "CAPTURE_SESSION": "\(session.id)",
                "CAPTURE_STATE": session.state.rawValue,
                "CAPTURE_REASON": session.reason?.code.rawValue ?? "",
                "CAPTURE_PROGRAM": session.program,
                "CAPTURE_USER": "\(session.user)",
                "CAPTURE_DEVICES": devices.joined(separator: " "),
            ]
        )
    }

    static func sentence(on session: SessionSnapshot, isNewState: Bool) -> String {
        let who = "session \(session.id) of \(session.program)"
        guard isNewState else {
            // A photo of a running session, say; that it runs was said before.
            return "\(who) was changed: it writes \(session.description.outputs.map(\.name).joined(separator: ", "))"
        }
        let reason = session.reason.map { ": \($0.message)" } ?? ""
        return "\(who) is \(session.state.rawValue)\(reason)"
    }

    static func record(
        _ session: SessionSnapshot,
        output: String,
        error: CaptureError?,
        statistics: OutputStatistics
    ) {
        let end = error.map { "failed: \($0.message)" } ?? "is complete"
        Journal.send(
            DisplayText.neutralized("output '\(output)' of session \(session.id) \(end)", limit: 2000),
            priority: error == nil ? .info : .warning,
            fields: [
                "CAPTURE_SESSION": "\(session.id)",
                "CAPTURE_OUTPUT": output,
                "CAPTURE_REASON": error?.code.rawValue ?? "",
                "CAPTURE_PROGRAM": session.program,
                "CAPTURE_USER": "\(session.user)",
                "CAPTURE_FRAMES": "\(statistics.frames)",
                "CAPTURE_BYTES": "\(statistics.bytes)",
                "CAPTURE_DROPS": "\(statistics.missedFrames)",
            ]
        )
    }

    /// What is wrong with the policy, by file and line.
    static func record(_ policy: Policy) {
        for fault in policy.faults {
            let text = "every start is refused because the policy cannot be understood: \(fault)"
            Journal.send(DisplayText.neutralized(text, limit: 2000), priority: .error)
        }
        for problem in policy.refusals + policy.remarks {
            Journal.send(DisplayText.neutralized("\(problem)", limit: 2000), priority: .warning)
        }
    }

    /// - Parameter ending: Of how many that were left out the line tells.
    static func record(_ decision: Decision, _ ending: String = "") {
        Journal.send(
            sentence(on: decision) + ending,
            priority: .notice,
            fields: [
                "CAPTURE_DECISION": decision.status.word,
                "CAPTURE_CAUSE": decision.cause.rawValue,
                "CAPTURE_SERVICE": decision.service.rawValue,
                "CAPTURE_PROGRAM": decision.program,
                "CAPTURE_TIER": decision.tier?.rawValue ?? "",
                "CAPTURE_USER": "\(decision.user)",
                "CAPTURE_PID": "\(decision.pid)",
                "CAPTURE_IDENTITY": decision.identity,
                "CAPTURE_AUTHOR_USER": decision.author.map { "\($0.user)" } ?? "",
                "CAPTURE_AUTHOR_PROGRAM": decision.author?.program ?? "",
            ]
        )
    }

    /// What came of a request or was changed, and then by whom.
    static func sentence(on decision: Decision) -> String {
        let author = decision.author.map { ", by \($0.program) of \(Users.name(of: $0.user))" } ?? ""
        return DisplayText.neutralized(decision.message + author, limit: 2000)
    }

    /// A caller who is nobody: it cannot be identified, or is not who it was.
    ///
    /// - Parameters:
    ///   - user: Whose it is; nil for one that has left.
    ///   - ending: Of how many that were left out the line tells.
    static func record(refused connection: String, user: UInt32?, _ error: CaptureError, _ ending: String) {
        let who = user.map { " of \(Users.name(of: $0))" } ?? ""
        Journal.send(
            DisplayText.neutralized("a call\(who) was refused: \(error.message)", limit: 2000) + ending,
            priority: .warning,
            fields: [
                "CAPTURE_DECISION": "refused",
                "CAPTURE_CAUSE": "identity",
                "CAPTURE_CONNECTION": connection,
                "CAPTURE_USER": user.map(String.init) ?? "",
            ]
        )
    }
}
