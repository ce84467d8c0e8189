import CaptureBus

/// A question of access as the desktop shows it: `AccessDialog` of `org.freedesktop.impl.portal.Access`.
///
/// The texts are shown as they are. A backend may take the title for a format (xdg-desktop-portal-gtk does), and others
/// may read markup: what comes from programs is to be made harmless before.
public struct AccessDialog: Hashable, Sendable {
    /// A row: a box to tick, or one of several things to choose.
    public struct Choice: Hashable, Sendable {
        /// One of several things.
        public struct Option: Hashable, Sendable {
            /// What the answer calls it.
            public var id: String
            /// What is read.
            public var label: String

            /// An option of the given id and label.
            public init(_ id: String, _ label: String) {
                self.id = id
                self.label = label
            }
        }

        /// What the answer calls it.
        public var id: String
        /// What is read beside the box, or above the options.
        public var label: String
        /// What there is to choose; none for a box.
        public var options: [Option]
        /// What is chosen at first: an option's id; `true` or `false` for a box.
        public var initial: String

        /// A box of the given id and label.
        public init(_ id: String, _ label: String, isTicked: Bool) {
            self.init(id, label, options: [], initial: isTicked ? "true" : "false")
        }

        /// Several things to choose from.
        public init(_ id: String, _ label: String, options: [Option], initial: String) {
            self.id = id
            self.label = label
            self.options = options
            self.initial = initial
        }
    }

    /// The question.
    public var title: String
    /// Below it.
    public var subtitle: String
    /// What there is to know, in lines; may be empty.
    public var body: String
    /// On the button that allows.
    public var grantLabel: String
    /// On the button that does not.
    public var denyLabel: String
    /// The name of a symbolic icon.
    public var icon: String
    /// Rows to choose in; may be empty.
    public var choices: [Choice] = []

    /// The options of the call, as `a{sv}`.
    var options: BusValue {
        var options: [String: BusValue] = [
            "modal": .bool(true), "grant_label": .string(grantLabel), "deny_label": .string(denyLabel),
            "icon": .string(icon),
        ]
        if !choices.isEmpty {
            let rows = choices.map { choice in
                BusValue.structure([
                    .string(choice.id), .string(choice.label),
                    .array("(ss)", choice.options.map { .structure([.string($0.id), .string($0.label)]) }),
                    .string(choice.initial),
                ])
            }
            options["choices"] = .array("(ssa(ss)s)", rows)
        }
        return .properties(options)
    }
}

/// What a person did with an `AccessDialog`.
public enum AccessResponse: Hashable, Sendable {
    /// Pressed the button that allows; by choice, what was chosen. Empty where the desktop shows no choices.
    case granted([String: String])
    /// Pressed the button that does not.
    case denied
    /// Closed it, or it ended in another way.
    case closed

    /// The answer to the call: a number, and results as `a{sv}`.
    init(_ values: [BusValue]) {
        switch values.first?.integer {
        case 0: self = .granted(AccessResponse.choices(values.dropFirst().first?.properties?["choices"]))
        case 1: self = .denied
        default: self = .closed
        }
    }

    /// `a(ss)` by the interface's description; xdg-desktop-portal-gtk returns `a{sv}`.
    private static func choices(_ value: BusValue?) -> [String: String] {
        var chosen = (value?.properties ?? [:]).compactMapValues(\.text)
        for pair in value?.elements ?? [] {
            if let texts = pair.elements, texts.count == 2, let id = texts[0].text { chosen[id] = texts[1].text }
        }
        return chosen
    }
}
