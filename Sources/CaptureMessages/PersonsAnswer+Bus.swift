public import CaptureBus
public import CaptureCore

extension PersonsAnswer: BusCodable {
    /// `allowed` b, `limited` b, `lifetime` s, `until` x.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an answer")
        guard let isAllowed = try reader.flag("allowed") else { throw reader.missing("allowed") }
        let isLimited = try reader.flag("limited") ?? false
        let word = try reader.word("lifetime", of: GrantLifetime.words) ?? GrantLifetime.always.word
        let moment = try reader.number("until", Int64.min...Int64.max)
        try reader.end()
        guard let lifetime = GrantLifetime(word: word, until: moment) else {
            throw reader.fault("until", "given with the lifetime 'until', and with no other")
        }
        guard isAllowed || !isLimited else {
            throw CaptureError(.invalidArgument, "a no cannot be limited; only a yes can")
        }
        self.init(isAllowed, isLimited: isLimited, lifetime: lifetime)
    }

    /// The answer as `a{sv}`.
    public var busValue: BusValue {
        var facts: [String: BusValue] = ["allowed": .bool(isAllowed)]
        if isLimited { facts["limited"] = .bool(true) }
        if lifetime != .always { facts["lifetime"] = .string(lifetime.word) }
        facts["until"] = lifetime.moment.map { .int64($0) }
        return .properties(facts)
    }
}
