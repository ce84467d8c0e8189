import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// The history as the bus shows it, in pages.
struct HistoryPages: Sendable {
    /// Entries of a page that does not say how many.
    static let usualLimit = 100
    /// The most entries of a page, which keeps an answer below half a megabyte.
    static let mostEntries = 200

    let keeper: HistoryKeeper
    /// Where a person looks at it.
    let commandLine: ShippedCommandLine

    /// `GetHistory` for a caller.
    func answer(_ filter: [String: BusValue], to caller: ClientIdentity) async throws(CaptureError) -> [BusValue] {
        var filter = filter
        if let name = filter["user"]?.text {
            filter["user"] = .string(String(try await Users.find(name, caller: caller)))
        }
        let query = try HistoryPages.query(filter, of: caller)
        // One more than is shown tells whether there are more.
        var wider = query
        wider.limit += 1
        // What others did to the media library, and what it was called, is no program's to see.
        if caller.user != 0, !commandLine.isRun(by: caller) { wider.programOfLibrary = caller.program }
        let entries = try await keeper.page(wider)
        try await Users.learn(entries.flatMap { [$0.user] + ($0.author.map { [$0.user] } ?? []) })
        let shown = entries.prefix(query.limit)
        let next = entries.count > shown.count ? shown.last?.id ?? 0 : 0
        let isPersons = caller.user == 0 || caller.tier == .claimed
        let rows = shown.map { HistoryPages.properties($0, withAuthor: isPersons) }
        return [.propertyList(rows), .uint64(UInt64(clamping: next))]
    }

    /// What a caller may see of what it asks for: a user its own, root everything, a program in a sandbox just itself.
    static func query(_ filter: [String: BusValue], of caller: ClientIdentity) throws(CaptureError) -> HistoryQuery {
        var query = HistoryQuery(limit: usualLimit)
        for (key, value) in filter {
            switch key {
            case "user": query.user = try Users.id(of: try text(key, value), caller: caller)
            case "program": query.program = try text(key, value)
            case "service": query.service = try Service(named: try text(key, value))
            case "since": query.since = try number(key, value, Int64.min ... .max)
            case "until": query.until = try number(key, value, Int64.min ... .max)
            case "before": query.before = try number(key, value, 1 ... .max)
            case "limit": query.limit = Int(try number(key, value, 1...Int64(mostEntries)))
            default:
                throw CaptureError(
                    .invalidArgument,
                    "a history is not filtered by '\(DisplayText.neutralized(key, limit: 64))', expected one of before, "
                        + "limit, program, service, since, until, user"
                )
            }
        }
        if caller.user == 0 { return query }
        guard query.user == nil || query.user == caller.user else {
            throw CaptureError(.notPermitted, "the history of another user is shown to root alone")
        }
        query.user = caller.user
        if caller.tier != .claimed {
            guard query.program == nil || query.program == caller.program else {
                throw CaptureError(
                    .notPermitted,
                    "a program of tier \(caller.tier.rawValue) is shown its own history alone, that of \(caller.program)"
                )
            }
            query.program = caller.program
        }
        return query
    }

    private static func text(_ key: String, _ value: BusValue) throws(CaptureError) -> String {
        guard let text = value.text else { throw CaptureError(.invalidArgument, "the filter '\(key)' is a text") }
        return text
    }

    private static func number(_ key: String, _ value: BusValue, _ range: ClosedRange<Int64>) throws(CaptureError)
        -> Int64
    {
        guard let number = value.integer, range.contains(number) else {
            throw CaptureError(
                .invalidArgument,
                "the filter '\(key)' is a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// - Parameter withAuthor: Whether who changed a setting is told: another program, which is none of the business of one
    ///   in a sandbox.
    private static func properties(_ entry: HistoryEntry, withAuthor: Bool) -> [String: BusValue] {
        let author = withAuthor ? entry.author : nil
        return [
            "id": .uint64(UInt64(clamping: entry.id)),
            "kind": .string(entry.kind.rawValue),
            "user": .string(Users.name(of: entry.user)),
            "program": .string(entry.program),
            "tier": .string(entry.tier?.rawValue ?? ""),
            "service": .string(entry.service.rawValue),
            "device": .string(entry.device),
            "device-name": .string(entry.deviceName),
            "cause": .string(entry.cause),
            "status": .string(entry.status.word),
            "began": .int64(entry.began.wall),
            "ended": .int64(entry.ended ?? 0),
            "duration": .int64(entry.duration),
            "outcome": .string(entry.outcome),
            "message": .string(entry.message),
            "pid": .uint32(UInt32(clamping: entry.pid)),
            "session": .uint32(entry.session),
            "times": .int64(entry.times),
            "author-user": .string(author.map { Users.name(of: $0.user) } ?? ""),
            "author-program": .string(author?.program ?? ""),
        ]
    }
}
