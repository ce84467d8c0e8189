public import CaptureBus
public import CaptureCore

extension DeviceControl: BusCodable {
    /// `name` s, `label` s, `kind` s, `minimum` x, `maximum` x, `step` x, `default` x, `value` x, `choices` a{xs},
    /// `writable` b.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the control")
        guard let name = try reader.text("name") else { throw reader.missing("name") }
        guard let word = try reader.text("kind") else { throw reader.missing("kind") }
        guard let kind = Kind(rawValue: word) else {
            throw reader.fault("kind", "one of integer, boolean, menu, button")
        }
        let every = Int64.min...Int64.max
        let control = DeviceControl(
            name: name,
            label: try reader.text("label") ?? "",
            kind: kind,
            minimum: try reader.number("minimum", every) ?? 0,
            maximum: try reader.number("maximum", every) ?? 0,
            step: try reader.number("step", every) ?? 0,
            defaultValue: try reader.number("default", every) ?? 0,
            value: try reader.number("value", every) ?? 0,
            choices: try reader.choices(),
            isWritable: try reader.flag("writable") ?? true
        )
        try reader.end()
        self = control
    }

    /// The control as `a{sv}`.
    public var busValue: BusValue {
        .properties([
            "name": .string(name), "label": .string(label), "kind": .string(kind.rawValue),
            "minimum": .int64(minimum), "maximum": .int64(maximum), "step": .int64(step),
            "default": .int64(defaultValue), "value": .int64(value), "writable": .bool(isWritable),
            "choices": .dictionary(
                "xs",
                choices.sorted { $0.key < $1.key }.map { BusEntry(.int64($0.key), .string($0.value)) }
            ),
        ])
    }
}

extension PropertyReader {
    fileprivate mutating func choices() throws(CaptureError) -> [Int64: String] {
        guard let value = take("choices") else { return [:] }
        guard case .dictionary("xs", let entries) = value, entries.count <= CodingLimits.mostChoices else {
            throw fault("choices", "of type 'a{xs}'")
        }
        var choices: [Int64: String] = [:]
        for entry in entries {
            guard let key = entry.key.integer, let text = entry.value.text else { continue }
            choices[key] = text
        }
        return choices
    }
}
