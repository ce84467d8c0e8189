public import CaptureBus
public import CaptureCore

extension DeviceControl: BusCodable {
    /// `id` u, `name` s, `label` s, `kind` s, `minimum` x, `maximum` x, `step` x, `default` x, `value` x, `unit` s, `choices`
    /// a{xs}, `flags` as, `writable` b.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the control")
        guard let name = try reader.text("name") else { throw reader.missing("name") }
        guard let word = try reader.text("kind") else { throw reader.missing("kind") }
        guard let kind = Kind(rawValue: word) else {
            throw reader.fault("kind", "one of integer, boolean, menu, button, rectangle")
        }
        let every = Int64.min...Int64.max
        let control = DeviceControl(
            id: try reader.number("id", 0...UInt32.max),
            name: name,
            label: try reader.text("label") ?? "",
            kind: kind,
            minimum: try reader.number("minimum", every) ?? 0,
            maximum: try reader.number("maximum", every) ?? 0,
            step: try reader.number("step", every) ?? 0,
            defaultValue: try reader.number("default", every) ?? 0,
            value: try reader.number("value", every) ?? 0,
            unit: try reader.text("unit"),
            choices: try reader.choices(),
            // What this version does not know says nothing to it.
            flags: Set((try reader.texts("flags", most: 16) ?? []).compactMap(Flag.init))
        )
        // For other languages; here the flags say it.
        _ = try reader.flag("writable")
        try reader.end()
        self = control
    }

    /// The control as `a{sv}`.
    public var busValue: BusValue {
        var properties: [String: BusValue] = [
            "name": .string(name), "label": .string(label), "kind": .string(kind.rawValue),
            "minimum": .int64(minimum), "maximum": .int64(maximum), "step": .int64(step),
            "default": .int64(defaultValue), "value": .int64(value), "writable": .bool(isWritable),
            "flags": .array("s", flags.map(\.rawValue).sorted().map { .string($0) }),
            "choices": .dictionary(
                "xs",
                choices.sorted { $0.key < $1.key }.map { BusEntry(.int64($0.key), .string($0.value)) }
            ),
        ]
        if let id { properties["id"] = .uint32(id) }
        if let unit { properties["unit"] = .string(unit) }
        return .properties(properties)
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
