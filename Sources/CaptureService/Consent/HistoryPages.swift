import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// The history as the bus shows it, in pages.
struct HistoryPages: Sendable {
    let keeper: HistoryKeeper
    /// Where a person looks at it.
    let commandLine: ShippedProgram

    /// `GetHistory` for a caller.
    func answer(_ filter: HistoryFilter, to caller: ClientIdentity) async throws(CaptureError) -> [BusValue] {
        var filter = filter
        if let name = filter.user { filter.user = String(try await Users.find(name, caller: caller)) }
        filter = try HistoryPages.allowed(filter, to: caller)
        // One more than is shown tells whether there are more.
        var wider = filter
        wider.limit += 1
        // What others did to the media library, and what it was called, is no program's to see.
        let isShownAll = caller.user == 0 || commandLine.isRun(by: caller)
        let entries = try await keeper.page(wider, libraryOf: isShownAll ? nil : caller.program)
        try await Users.learn(entries.flatMap { [$0.user] + ($0.author.map { [$0.user] } ?? []) })
        let shown = entries.prefix(filter.limit)
        let next = entries.count > shown.count ? shown.last?.id ?? 0 : 0
        let isPersons = caller.user == 0 || caller.tier == .claimed
        let events = shown.map { HistoryPages.event($0, withAuthor: isPersons) }
        return [.records(events), .uint64(UInt64(clamping: next))]
    }

    /// What a caller may see of what it asks for: a user its own, root everything, a program in a sandbox just itself.
    ///
    /// - Parameter filter: A user in it is a number.
    static func allowed(_ filter: HistoryFilter, to caller: ClientIdentity) throws(CaptureError) -> HistoryFilter {
        if caller.user == 0 { return filter }
        var filter = filter
        guard filter.user == nil || filter.user == String(caller.user) else {
            throw CaptureError(.notPermitted, "only root may see another user's history")
        }
        filter.user = String(caller.user)
        if caller.tier != .claimed {
            guard filter.program == nil || filter.program == caller.program else {
                throw CaptureError(
                    .notPermitted,
                    "a program of tier \(caller.tier.rawValue) may only see its own history, that of \(caller.program)"
                )
            }
            filter.program = caller.program
        }
        return filter
    }

    /// - Parameter withAuthor: Whether who changed a setting is told: another program, which is none of the business of one
    ///   in a sandbox.
    private static func event(_ entry: HistoryEntry, withAuthor: Bool) -> HistoryEvent {
        var event = HistoryEvent(id: UInt64(clamping: entry.id), kind: entry.kind.rawValue)
        event.user = Users.name(of: entry.user)
        event.program = entry.program
        event.tier = entry.tier?.rawValue ?? ""
        event.service = entry.service.rawValue
        event.device = entry.device
        event.deviceName = entry.deviceName
        event.cause = entry.cause
        event.status = entry.status
        event.began = entry.began.wall
        event.ended = entry.ended
        event.duration = entry.duration
        event.outcome = entry.outcome
        event.message = entry.message
        event.processID = UInt32(clamping: entry.pid)
        event.session = entry.session
        event.times = entry.times
        if withAuthor, let author = entry.author {
            event.authorUser = Users.name(of: author.user)
            event.authorProgram = author.program
        }
        return event
    }
}
