import CaptureKit

/// Stored answers and identities, as rows and as JSON.
enum AuthPresentation {
    static func table(_ entries: [AuthorizationEntry]) -> String {
        var table = Table(["USER", "PROGRAM", "SERVICE", "STATUS", "TIER", "BY", "WHEN"])
        for entry in entries {
            table.add([
                entry.user, entry.program, entry.service, entry.status?.word ?? "unknown", entry.tier, entry.reason,
                entry.time > 0 ? Clock.Moment(seconds: entry.time).text : "",
            ])
        }
        return table.text
    }

    static func json(_ entry: AuthorizationEntry) -> JSON {
        [
            "user": JSON(entry.user), "program": JSON(entry.program), "service": JSON(entry.service),
            "status": JSON(entry.status?.word), "tier": JSON(entry.tier), "reason": JSON(entry.reason),
            "time": JSON(entry.time), "detail": JSON(entry.detail),
        ]
    }

    static func json(_ identity: ProgramIdentity) -> JSON {
        [
            "program": JSON(identity.program), "tier": JSON(identity.tier), "user": JSON(identity.user),
            "uid": JSON(identity.userID), "pid": JSON(identity.processID), "detail": JSON(identity.detail),
        ]
    }
}
