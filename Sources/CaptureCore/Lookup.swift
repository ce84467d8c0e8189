/// The result of a lookup in a database.
public enum Lookup<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    case absent
    /// The database could not be asked.
    case failed

    /// The value, if one was found.
    public var value: Value? {
        if case .found(let value) = self { value } else { nil }
    }

    /// The same lookup, of which one part matters.
    public func map<Part>(_ part: (Value) -> Part) -> Lookup<Part> {
        switch self {
        case .found(let value): .found(part(value))
        case .absent: .absent
        case .failed: .failed
        }
    }
}
