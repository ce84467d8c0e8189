package import CaptureBus
package import CaptureCore

/// The options of `RegisterAgent`.
package struct AgentOptions: Sendable {
    /// What it is, such as `terminal`.
    package var kind: String
    /// Whether it asks only for its own program, on its own terminal.
    package var isInline: Bool

    /// Options of the given parts.
    package init(kind: String, isInline: Bool) {
        self.kind = kind
        self.isInline = isInline
    }

    /// The options of a call.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    package init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an agent")
        kind = try reader.text("kind") ?? ""
        isInline = try reader.flag("inline") ?? false
        try reader.end()
    }

    /// The options as `a{sv}`.
    package var busValue: BusValue { .properties(["kind": .string(kind), "inline": .bool(isInline)]) }
}

/// The options of `Set`.
package struct SetOptions: Sendable {
    /// When a yes ends, in milliseconds since 1970; `nil` for never.
    package var until: Int64?

    /// Options of the given parts.
    package init(until: Int64?) {
        self.until = until
    }

    /// The options of a call.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    package init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an answer to set")
        until = try reader.number("until", Int64.min...Int64.max)
        try reader.end()
    }

    /// The options as `a{sv}`.
    package var busValue: BusValue { .properties(until.map { ["until": .int64($0)] } ?? [:]) }

    /// How long a yes holds.
    package var lifetime: GrantLifetime { until.map { .until($0) } ?? .always }
}
