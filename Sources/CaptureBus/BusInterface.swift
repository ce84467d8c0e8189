/// A named argument of a method or signal.
public struct BusArgument: Hashable, Sendable {
    /// The name that introspection shows: letters, digits, underscores.
    public var name: String
    /// One complete type.
    public var signature: String

    /// An argument of the given name and type.
    public init(_ name: String, _ signature: String) {
        self.name = name
        self.signature = signature
    }
}

/// A method as an interface declares it.
public struct BusMethod: Hashable, Sendable {
    /// As in `ListDevices`.
    public var name: String
    /// What it takes.
    public var input: [BusArgument]
    /// What it returns.
    public var output: [BusArgument]

    /// A method of the given arguments.
    public init(_ name: String, _ input: [BusArgument] = [], returns output: [BusArgument] = []) {
        self.name = name
        self.input = input
        self.output = output
    }
}

/// A signal as an interface declares it.
public struct BusSignalDeclaration: Hashable, Sendable {
    /// As in `DeviceAdded`.
    public var name: String
    /// What it carries.
    public var arguments: [BusArgument]

    /// A signal of the given arguments.
    public init(_ name: String, _ arguments: [BusArgument] = []) {
        self.name = name
        self.arguments = arguments
    }
}

/// A property as an interface declares it; none can be written from the bus.
public struct BusProperty: Hashable, Sendable {
    /// As in `State`.
    public var name: String
    /// One complete type.
    public var signature: String
    /// Whether changes are announced by `PropertiesChanged`; else it never changes.
    public var emitsChange: Bool

    /// A property of the given type.
    public init(_ name: String, _ signature: String, emitsChange: Bool = false) {
        self.name = name
        self.signature = signature
        self.emitsChange = emitsChange
    }
}

/// An interface as it is declared: what the vtable, and with it introspection, is made from.
public struct BusInterface: Hashable, Sendable {
    /// As in `org.capturekit.Capture1.Manager`.
    public var name: String
    /// Its methods.
    public var methods: [BusMethod]
    /// Its properties.
    public var properties: [BusProperty]
    /// Its signals.
    public var signals: [BusSignalDeclaration]

    /// An interface of the given members.
    public init(
        _ name: String,
        methods: [BusMethod] = [],
        properties: [BusProperty] = [],
        signals: [BusSignalDeclaration] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    /// The method of a name.
    public func method(_ name: String) -> BusMethod? { methods.first { $0.name == name } }
}

extension [BusArgument] {
    /// The signatures, one behind the other.
    public var signature: String { map(\.signature).joined() }
}
