import CaptureKit

/// Stored answers and identities, as rows and as JSON.
enum AuthPresentation {
    static func table(_ entries: [AuthorizationEntry]) -> Table {
        var table = Table([
            "USER", .name("PROGRAM"), "SERVICE", "STATUS", .detail("TIER"), .detail("BY"), .optional("LASTS"),
            .optional("WHEN"), .detail("MADE OF"),
        ])
        for entry in entries {
            let answered = entry.follows.isEmpty ? entry.reason : entry.follows
            let source = entry.policy.isEmpty ? answered : entry.policy
            table.add([
                entry.user, entry.program, entry.service, entry.status?.word ?? "unknown", entry.tier, source,
                lasting(entry.lifetime, entry.ends), entry.time > 0 ? Clock.Moment(seconds: entry.time).text : "",
                entry.detail,
            ])
        }
        return table
    }

    /// How long an answer holds, and until when as things stand.
    private static func lasting(_ lifetime: String, _ ends: Int64?) -> String {
        let end = ends.map { Clock.Moment(seconds: $0 / 1000).text }
        switch lifetime {
        case "always": return end.map { "until \($0) unless used" } ?? "always"
        case "until": return end.map { "until \($0)" } ?? "until a date"
        case "connection": return "until it is closed"
        case "session": return "this time"
        default: return lifetime
        }
    }

    static func json(_ entry: AuthorizationEntry) -> JSON {
        [
            "user": JSON(entry.user), "program": JSON(entry.program), "service": JSON(entry.service),
            "status": JSON(entry.status?.word), "stored": JSON(entry.stored?.word),
            "policy": JSON(entry.policy.isEmpty ? nil : entry.policy),
            "follows": JSON(entry.follows.isEmpty ? nil : entry.follows), "tier": JSON(entry.tier),
            "reason": JSON(entry.reason), "usage": JSON(entry.usage.isEmpty ? nil : entry.usage),
            "time": entry.time > 0 ? .time(seconds: entry.time) : .null,
            "detail": JSON(entry.detail),
            "lifetime": JSON(entry.lifetime), "ends": entry.ends.map { .time(milliseconds: $0) } ?? .null,
            "file": json(entry.file),
        ]
    }

    /// What decides, by service, and what a start would do.
    static func text(_ explanations: [AuthorizationExplanation]) -> String {
        var lines: [String] = []
        for one in explanations {
            lines.append("\(one.service): \(one.status.word)")
            if !one.follows.isEmpty { lines.append("  follows     from \(one.follows): reading includes adding") }
            lines.append("  decided by  " + decider(of: one))
            if one.decider != "policy", !one.policy.isEmpty {
                lines.append("  policy      \(one.policy), by \(one.policySource)")
            }
            if one.decider != "answer", let stored = one.stored {
                lines.append("  answer      \(stored.word), which has no effect now, \(origin(of: one))")
            }
            for rule in one.possibleRules {
                lines.append("  perhaps     \(rule), which may match when the program runs")
            }
            let start =
                switch one.start {
                case .starts:
                    AuthorizationService.ofDevices.map(\.rawValue).contains(one.service) ? "captures" : "is granted"
                case .asks: "asks \(one.asks)"
                case .refused: "is refused, exit code \(one.exitCode)"
                }
            lines.append("  a start     \(start): \(one.message)")
        }
        let levels = Set(explanations.compactMap { AuthorizationService(rawValue: $0.service) })
        if levels.isSuperset(of: AuthorizationService.ofLibrary),
            let reading = explanations.first(where: { $0.service == AuthorizationService.libraryReadWrite.rawValue })
        {
            lines.append("\(LibraryChoice.serviceName): \(reading.status.withoutLevel.word), without a level")
        }
        let head = explanations.first.map { "\($0.program), \($0.tier)\n" } ?? ""
        return (head + lines.joined(separator: "\n")).split(separator: "\n")
            .map { Printable.text(String($0), limit: 1000) }.joined(separator: "\n")
    }

    private static func decider(of one: AuthorizationExplanation) -> String {
        switch one.decider {
        case "switch": "the switch: it is off for every program"
        case "policy":
            one.policyFault.isEmpty
                ? "policy: \(one.policySource) says \(one.policy)" : "policy: \(one.policySource): \(one.policyFault)"
        case "answer": "the stored answer: \(one.stored?.word ?? ""), \(origin(of: one))"
        default: "nothing yet"
        }
    }

    private static func origin(of one: AuthorizationExplanation) -> String {
        var text = "by \(one.reason)"
        if one.time > 0 { text += ", \(Clock.Moment(seconds: one.time).text)" }
        let lasting = lasting(one.lifetime, one.ends)
        return lasting.isEmpty || lasting == "always" ? text : text + ", \(lasting)"
    }

    static func json(_ one: AuthorizationExplanation) -> JSON {
        [
            "program": JSON(one.program), "tier": JSON(one.tier), "service": JSON(one.service),
            "status": JSON(one.status.word), "follows": JSON(one.follows.isEmpty ? nil : one.follows),
            "decides": JSON(one.decider),
            "policy": JSON(one.policy.isEmpty ? nil : one.policy),
            "policySource": JSON(one.policySource.isEmpty ? nil : one.policySource),
            "policyFault": JSON(one.policyFault.isEmpty ? nil : one.policyFault),
            "policyPossible": .array(one.possibleRules.map { JSON($0) }),
            "stored": JSON(one.stored?.word), "reason": JSON(one.reason.isEmpty ? nil : one.reason),
            "time": one.time > 0 ? .time(seconds: one.time) : .null,
            "lifetime": JSON(one.lifetime.isEmpty ? nil : one.lifetime),
            "ends": one.ends.map { .time(milliseconds: $0) } ?? .null, "start": JSON(one.start.rawValue),
            "exitCode": JSON(one.exitCode), "asks": JSON(one.asks.isEmpty ? nil : one.asks),
            "message": JSON(one.message),
        ]
    }

    static func json(_ identity: ProgramIdentity) -> JSON {
        [
            "program": JSON(identity.program), "tier": JSON(identity.tier), "user": JSON(identity.user),
            "uid": .id(identity.userID), "pid": .id(identity.processID), "found": JSON(found(identity)),
            "unit": JSON(identity.unit), "session": JSON(identity.session), "sandbox": JSON(identity.sandbox),
            "label": JSON(identity.label), "file": json(identity.file), "detail": JSON(identity.detail),
        ]
    }

    /// An identity with its parts, one in a line; those that there are not are left out.
    static func text(_ identity: ProgramIdentity) -> String {
        let file = identity.file.map { file in
            let changed = file.changed.map { ", changed \(Clock.Moment(seconds: $0 / 1_000_000_000).text)" } ?? ""
            return "\(Printable.text(file.path, limit: 1000)) (device \(file.device), inode \(file.inode)\(changed)"
                + (file.isProtected ? ", which only root can replace)" : ")")
        }
        let lines: [(String, String?)] = [
            ("program", Printable.text(identity.program, limit: 1000)), ("tier", Printable.text(identity.tier)),
            ("user", "\(Printable.text(identity.user)) (\(identity.userID))"),
            ("process", "\(identity.processID), found \(found(identity))"), ("file", file),
            ("unit", identity.unit.map { Printable.text($0) }),
            ("session", identity.session.map { Printable.text($0) }),
            ("sandbox", identity.sandbox.map { Printable.text($0) }),
            ("label", identity.label.map { Printable.text($0) }),
            ("known by", Printable.text(identity.detail, limit: 1000)),
        ]
        return lines.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 9 - name.count) + $0 }
        }.joined(separator: "\n")
    }

    private static func found(_ identity: ProgramIdentity) -> String {
        identity.isByPid ? "by pid" : "by process descriptor"
    }

    private static func json(_ file: ProgramFile?) -> JSON {
        guard let file else { return .null }
        return [
            "path": JSON(file.path), "device": .id(file.device), "inode": .id(file.inode),
            "changed": file.changed.map { .time(nanoseconds: $0) } ?? .null, "protected": JSON(file.isProtected),
        ]
    }
}
