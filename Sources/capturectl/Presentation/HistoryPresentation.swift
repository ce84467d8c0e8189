import CaptureKit

/// The history, as rows and as JSON.
enum HistoryPresentation {
    static func table(_ events: [HistoryEvent]) -> Table {
        var table = Table([
            "WHEN", .optional("USER"), .name("PROGRAM"), .detail("TIER"), .text("SERVICE"), "WHAT",
            .optional(">LASTED"),
            .detail("BY"), .text("NOTE"),
        ])
        for event in events {
            table.add([
                Clock.Moment(seconds: event.began / 1000).text, event.user, event.program, event.tier, event.service,
                what(event), event.kind == "use" ? Quantities.time(event.duration * 1_000_000) : "", decider(event),
                note(event),
            ])
        }
        return table
    }

    /// What happened, in a word or two.
    private static func what(_ event: HistoryEvent) -> String {
        let word =
            switch event.kind {
            case "use": event.outcome.isEmpty ? "in use" : event.outcome
            default: event.status?.word ?? "unknown"
            }
        return event.times > 1 ? "\(word) x\(event.times)" : word
    }

    /// What decided, and who it was where somebody changed a setting, as in `settings: root by exe:/usr/bin/capturectl`.
    private static func decider(_ event: HistoryEvent) -> String {
        event.authorProgram.isEmpty
            ? event.cause : "\(event.cause): \(event.authorUser) by \(event.authorProgram)"
    }

    /// The device of a use, and the reason of what did not end as asked.
    private static func note(_ event: HistoryEvent) -> String {
        guard event.kind == "use" else { return event.message }
        let device = event.deviceName.isEmpty ? event.device : event.deviceName
        return event.message.isEmpty ? device : "\(device): \(event.message)"
    }

    static func json(_ event: HistoryEvent) -> JSON {
        [
            "id": .id(event.id), "kind": JSON(event.kind), "user": JSON(event.user), "program": JSON(event.program),
            "tier": JSON(event.tier), "service": JSON(event.service), "device": JSON(event.device),
            "deviceName": JSON(event.deviceName), "cause": JSON(event.cause), "status": JSON(event.status?.word),
            "began": .time(milliseconds: event.began), "ended": event.ended.map { .time(milliseconds: $0) } ?? .null,
            "duration": event.kind == "use" ? .seconds(milliseconds: event.duration) : .null,
            "outcome": JSON(event.outcome), "message": JSON(event.message),
            "pid": event.processID > 0 ? .id(event.processID) : .null,
            "session": event.session > 0 ? .id(event.session) : .null, "times": JSON(event.times),
            "author": event.authorProgram.isEmpty
                ? .null : ["user": JSON(event.authorUser), "program": JSON(event.authorProgram)],
        ]
    }
}
