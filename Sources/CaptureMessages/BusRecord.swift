package import CaptureBus
package import CaptureCore

/// What the daemon tells as an `a{sv}`: each key stands once, beside its property, for writing and for reading.
///
/// Reading skips keys that it does not know, so that daemon and client may be of different versions. A value that is
/// missing or of another type leaves its property as `init()` has it; a required one makes the whole unreadable.
package protocol BusRecord: Sendable {
    /// One of which nothing is known.
    init()
    /// How it travels.
    static var fields: [BusField<Self>] { get }
}

extension BusRecord {
    /// Reads it; `nil` if the value is no table, or a required value is missing or cannot be.
    package init?(_ value: BusValue) {
        guard let values = value.properties else { return nil }
        self.init(values)
    }

    /// The same, of the values by their keys.
    package init?(_ values: [String: BusValue]) {
        self.init()
        for field in Self.fields where !field.read(values, &self) && field.isRequired { return nil }
    }

    /// As it travels, for more to be added.
    package var properties: [String: BusValue] {
        var values: [String: BusValue] = [:]
        for field in Self.fields { field.write(self, &values) }
        return values
    }

    /// As it travels.
    package var busValue: BusValue { .properties(properties) }
}

extension BusValue {
    /// `aa{sv}`
    package static func records(_ records: [some BusRecord]) -> BusValue { .propertyList(records.map(\.properties)) }

    /// The records of an `aa{sv}`; `nil` if one of them cannot be read.
    package func records<Record: BusRecord>(of _: Record.Type = Record.self) -> [Record]? {
        guard let elements else { return nil }
        let records = elements.compactMap(Record.init)
        return records.count == elements.count ? records : nil
    }
}

/// A property of a record, and how it travels.
package struct BusField<Record>: Sendable {
    let isRequired: Bool
    let write: @Sendable (Record, inout [String: BusValue]) -> Void
    /// Whether there was a value that can be.
    let read: @Sendable ([String: BusValue], inout Record) -> Bool

    /// A property whose value travels in a form of its own.
    ///
    /// - Parameters:
    ///   - write: Returns `nil` to leave the key out.
    ///   - read: Returns `nil` for a value that cannot be.
    package init<Value>(
        _ key: String,
        _ path: any WritableKeyPath<Record, Value> & Sendable,
        isRequired: Bool = false,
        write: @escaping @Sendable (Value) -> BusValue?,
        read: @escaping @Sendable (BusValue) -> Value?
    ) {
        self.isRequired = isRequired
        self.write = { record, values in values[key] = write(record[keyPath: path]) }
        self.read = { values, record in
            guard let value = values[key].flatMap(read) else { return false }
            record[keyPath: path] = value
            return true
        }
    }

    /// A record whose keys stand among those of this one, if there is one.
    package init<Part: BusRecord>(among path: any WritableKeyPath<Record, Part?> & Sendable) {
        isRequired = false
        write = { record, values in
            if let part = record[keyPath: path] { values.merge(part.properties) { $1 } }
        }
        read = { values, record in
            record[keyPath: path] = Part(values)
            return true
        }
    }

    /// A record whose keys stand among those of this one.
    package init<Part: BusRecord>(among path: any WritableKeyPath<Record, Part> & Sendable) {
        isRequired = true
        write = { record, values in values.merge(record[keyPath: path].properties) { $1 } }
        read = { values, record in
            guard let part = Part(values) else { return false }
            record[keyPath: path] = part
            return true
        }
    }

    /// Records, each as a table of its own. One that cannot be read makes the whole unreadable.
    package init<Part: BusRecord>(list key: String, _ path: any WritableKeyPath<Record, [Part]> & Sendable) {
        isRequired = true
        write = { record, values in values[key] = .records(record[keyPath: path]) }
        read = { values, record in
            guard let value = values[key] else { return true }
            guard let parts = value.records(of: Part.self) else { return false }
            record[keyPath: path] = parts
            return true
        }
    }

    /// A property that is always there.
    package init<Value: BusFieldValue>(
        _ key: String,
        _ path: any WritableKeyPath<Record, Value> & Sendable,
        isRequired: Bool = false
    ) {
        self.init(key, path, isRequired: isRequired, write: { $0.fieldValue }, read: Value.field)
    }

    /// A property that may be missing.
    ///
    /// - Parameter none: What travels then; `nil` to leave the key out.
    package init<Value: BusFieldValue>(
        _ key: String,
        _ path: any WritableKeyPath<Record, Value?> & Sendable,
        none: BusValue? = nil
    ) {
        self.init(key, path, write: { $0?.fieldValue ?? none }) { $0 == none ? .some(nil) : Value.field($0) }
    }
}

/// What has one form in every record.
package protocol BusFieldValue: Sendable {
    /// Reads it; `nil` if it cannot be.
    static func field(_ value: BusValue) -> Self?
    /// As it travels.
    var fieldValue: BusValue { get }
}

extension BusFieldValue where Self: RawRepresentable<String> {
    package static func field(_ value: BusValue) -> Self? { value.text.flatMap(Self.init(rawValue:)) }
    package var fieldValue: BusValue { .string(rawValue) }
}

extension String: BusFieldValue {
    package static func field(_ value: BusValue) -> String? { value.text }
    package var fieldValue: BusValue { .string(self) }
}

extension Bool: BusFieldValue {
    package static func field(_ value: BusValue) -> Bool? { value.boolean }
    package var fieldValue: BusValue { .bool(self) }
}

extension UInt32: BusFieldValue {
    package static func field(_ value: BusValue) -> UInt32? { value.integer.map(UInt32.init(clamping:)) }
    package var fieldValue: BusValue { .uint32(self) }
}

extension UInt64: BusFieldValue {
    package static func field(_ value: BusValue) -> UInt64? { value.unsigned }
    package var fieldValue: BusValue { .uint64(self) }
}

extension Int64: BusFieldValue {
    package static func field(_ value: BusValue) -> Int64? { value.integer }
    package var fieldValue: BusValue { .int64(self) }
}

extension [String]: BusFieldValue {
    package static func field(_ value: BusValue) -> [String]? { value.texts }
    package var fieldValue: BusValue { .strings(self) }
}

extension AuthorizationStatus: BusFieldValue {
    package static func field(_ value: BusValue) -> AuthorizationStatus? {
        value.text.flatMap(AuthorizationStatus.init(word:))
    }
    package var fieldValue: BusValue { .string(word) }
}
