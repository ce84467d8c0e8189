public import CaptureBus
public import CaptureCore

extension HistoryFilter: BusCodable {
    /// `user`, `program` and `service` s, `since` and `until` x, `before` t, `limit` u.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "a history filter")
        self.init()
        user = try reader.text("user")
        program = try reader.text("program", longest: 4200)
        service = try reader.word("service", AuthorizationService.self)
        since = try reader.number("since", Int64.min...Int64.max)
        until = try reader.number("until", Int64.min...Int64.max)
        before = try reader.number("before", 1...Int64.max)
        limit = try reader.number("limit", 1...HistoryFilter.largestPage) ?? limit
        try reader.end()
    }

    /// The filter as `a{sv}`.
    public var busValue: BusValue {
        var filter: [String: BusValue] = ["limit": .uint32(UInt32(clamping: limit))]
        filter["user"] = user.map { .string($0) }
        filter["program"] = program.map { .string($0) }
        filter["service"] = service.map { .string($0.rawValue) }
        filter["since"] = since.map { .int64($0) }
        filter["until"] = until.map { .int64($0) }
        filter["before"] = before.map { .uint64(UInt64(clamping: $0)) }
        return .properties(filter)
    }
}
