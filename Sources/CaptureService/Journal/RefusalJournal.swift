import Authorization
import CaptureBus
import CaptureCore
import Synchronization

/// Tells the journal of what was refused, by whom it was tried and why, so that an attack leaves a trace.
///
/// Thread-safe. Who tries the same over and over is told of a few times a minute, with the number of the rest.
final class RefusalJournal: Sendable {
    private let limit = Mutex(LineLimit())

    /// Tells of a call that was answered by an error, when the error is a refusal. Of callers that could not be
    /// identified `CallerDirectory` tells, of starts the gate.
    func tell(_ call: BusCall, _ error: CaptureError, of client: ClientIdentity) {
        guard RefusalJournal.isRefusal(error, of: call) else { return }
        tell(
            "\(call.member) was refused to \(client.program) of \(Users.name(of: client.user)) (process \(client.pid)): "
                + error.message,
            kind: "\(client.program) \(call.member) \(error.code.rawValue)",
            fields: ["CAPTURE_METHOD": call.member, "CAPTURE_CAUSE": error.code.rawValue],
            of: client
        )
    }

    /// Tells of something else that was refused.
    ///
    /// - Parameter kind: What counts as the same, of one user.
    func tell(_ message: String, kind: String, fields: [String: String], of client: ClientIdentity) {
        guard let ending = admit(kind, of: client.user) else { return }
        let facts = [
            "CAPTURE_DECISION": "refused", "CAPTURE_PROGRAM": client.program, "CAPTURE_TIER": client.tier.rawValue,
            "CAPTURE_USER": "\(client.user)", "CAPTURE_PID": "\(client.pid)", "CAPTURE_IDENTITY": client.detail,
        ]
        Journal.send(
            DisplayText.neutralized(message, limit: 2000) + ending,
            priority: .warning,
            fields: facts.merging(fields) { $1 }
        )
    }

    /// Whether there may be a line of a kind now: what it ends in, and `nil` when there may not.
    ///
    /// - Parameter user: By whom it was tried; `nil` where that is not known any more.
    func admit(_ kind: String, of user: UInt32?) -> String? {
        switch limit.withLock({ $0.admit(kind, of: user, at: .now) }) {
        case .told(leftOut: 0): ""
        case .told(let count): " (\(count) more like it were left out before)"
        case .last: " (more like it within a minute are left out)"
        case .leftOut: nil
        }
    }

    /// Errors that keep somebody from what is not theirs; wrong arguments and devices that are gone are none.
    static func isRefusal(_ error: CaptureError, of call: BusCall) -> Bool {
        switch error.code {
        case .notPermitted, .busy: true
        case _ where error == BusErrors.tooMuch: true
        // Another user's session is said not to be there.
        case .noSuchSession: call.path.hasPrefix(CaptureNames.sessions)
        // Starts are told of by the gate.
        case .restricted: call.interface == CaptureNames.authorization
        default: false
        }
    }
}

/// How many lines of a kind there may be: ten in a minute. What one user tries leaves another's alone.
struct LineLimit {
    /// What becomes of a line.
    enum Verdict: Equatable {
        /// It is told, after so many of its kind that were not.
        case told(leftOut: Int)
        /// It is told, and is the last for now.
        case last
        /// It is not.
        case leftOut
    }

    static let most = 10
    static let span = Duration.seconds(60)
    /// Kinds of a user that are told apart; beyond that all others are one kind.
    static let mostKinds = 1024

    private struct Kind {
        var start: ContinuousClock.Instant
        var count = 0
        var leftOut = 0
    }

    private var kinds: [UInt32?: [String: Kind]] = [:]

    /// - Parameters:
    ///   - user: By whom it was tried; all that are not known are one.
    ///   - now: Never before an earlier call's.
    mutating func admit(_ name: String, of user: UInt32?, at now: ContinuousClock.Instant) -> Verdict {
        // Of who has been quiet for a minute nothing is kept.
        if kinds[user] == nil { kinds = kinds.filter { $0.value.values.contains { $0.start + Self.span > now } } }
        var own = kinds[user] ?? [:]
        // Not shared while it is changed: another reference would have it copied at each line.
        kinds[user] = [:]
        defer { kinds[user] = own }
        var name = name
        if own[name] == nil, own.count >= Self.mostKinds {
            own = own.filter { $0.value.start + Self.span > now }
            if own.count >= Self.mostKinds { name = "" }
        }
        var kind = own[name] ?? Kind(start: now)
        defer { own[name] = kind }
        var leftOut = 0
        if kind.start + Self.span <= now {
            leftOut = kind.leftOut
            kind = Kind(start: now)
        }
        kind.count += 1
        if kind.count < Self.most { return .told(leftOut: leftOut) }
        if kind.count == Self.most { return .last }
        kind.leftOut += 1
        return .leftOut
    }
}
