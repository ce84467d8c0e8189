import CaptureBus

/// The daemon's report about itself.
public struct DaemonHealth: Hashable, Sendable {
    /// A value: text, a number, a yes or no, or a list of texts.
    public enum Value: Hashable, Sendable {
        /// Words.
        case text(String)
        /// A whole number.
        case number(Int64)
        /// Yes or no.
        case flag(Bool)
        /// Several words or sentences.
        case list([String])
    }

    /// Everything it said, by key.
    public var values: [String: Value]

    /// Facts of the given keys.
    public init(values: [String: Value]) {
        self.values = values
    }

    init(_ properties: [String: BusValue]) {
        values = properties.compactMapValues { value in
            if let text = value.text { return .text(text) }
            if let flag = value.boolean { return .flag(flag) }
            if let number = value.integer { return .number(number) }
            if let list = value.texts { return .list(list) }
            return nil
        }
    }

    /// The text of a key; empty if the report does not have the key.
    public func text(_ key: String) -> String {
        if case .text(let text)? = values[key] { text } else { "" }
    }

    /// The number of a key.
    public func number(_ key: String) -> Int64? {
        if case .number(let number)? = values[key] { number } else { nil }
    }

    /// The texts of a key; empty if the report does not have the key.
    public func list(_ key: String) -> [String] {
        if case .list(let list)? = values[key] { list } else { [] }
    }
}
