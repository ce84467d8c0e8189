public import CaptureCore
import CSystemd
import Synchronization

/// A method call that arrived.
public struct BusCall: Sendable {
    /// The caller's unique name, as in `:1.42`; the bus vouches for it.
    public let sender: String
    /// The object that was called.
    public let path: String
    /// The interface of the method.
    public let interface: String
    /// The method.
    public let member: String
    /// What came along; of the declared types.
    public var arguments: [BusValue]
}

/// Answers a method call with values of the declared types, or with an error that the caller gets to see.
///
/// Runs in a task of its own. The sender's next call waits until it returns or calls `BusTurn.end()`. It calls that
/// before it waits for a person, or for a service that may ask one.
public typealias BusHandler = @Sendable (BusCall) async throws(CaptureError) -> [BusValue]

/// Does what a method is for that answers nothing; otherwise as `BusHandler`.
public typealias BusAction = @Sendable (BusCall) async throws(CaptureError) -> Void

/// Answers a method call of a sender on the bus thread, where that takes neither waiting nor long, with values of the declared
/// types; `nil` where it might, or where something is wrong with the call: then the method's `BusHandler` does. Never called
/// before earlier calls of the same sender are answered.
public typealias BusQuickHandler = @Sendable (_ sender: String, _ arguments: [BusValue]) -> [BusValue]?

/// An interface with what it does.
public struct BusImplementation: Sendable {
    /// What is declared.
    public let interface: BusInterface
    let handlers: [String: BusHandler]
    let quick: [String: BusQuickHandler]
    let values: [String: BusValue]

    /// An interface with a handler or an action for every method, a quick handler for some, and a first value for every
    /// property.
    public init(
        _ interface: BusInterface,
        methods: [String: BusHandler] = [:],
        actions: [String: BusAction] = [:],
        quick: [String: BusQuickHandler] = [:],
        properties: [String: BusValue] = [:]
    ) {
        self.interface = interface
        handlers = methods.merging(actions.mapValues(BusImplementation.handler)) { method, _ in method }
        self.quick = quick
        values = properties
    }

    private static func handler(of action: @escaping BusAction) -> BusHandler {
        { call throws(CaptureError) in
            try await action(call)
            return []
        }
    }
}

/// Who may read an object's properties.
public struct BusReaders: Sendable {
    /// What everybody else is told.
    public let refusal: CaptureError
    let admit: @Sendable (_ sender: String) async throws(CaptureError) -> Bool

    /// Those of whom `admit` says so, asked at each reading, after earlier calls of the same sender are answered; who may not
    /// is told `refusal`, or what `admit` throws.
    public init(
        refusal: CaptureError,
        admit: @escaping @Sendable (_ sender: String) async throws(CaptureError) -> Bool
    ) {
        self.refusal = refusal
        self.admit = admit
    }
}

/// An object for the bus: a path, its interfaces, and a snapshot of its properties that the bus thread reads.
///
/// Thread-safe. Signals are sent by `BusConnection.emit`.
public final class BusObject: Sendable {
    /// As in `/org/capturekit/Capture1`.
    public let path: String
    let implementations: [BusImplementation]
    /// Who may read the properties; `nil` for everybody.
    let readers: BusReaders?
    private let snapshot: Mutex<[String: [String: BusValue]]>

    /// An object of the given interfaces, with properties that `readers` may read, or everybody.
    ///
    /// - Throws: `.internalFault` when a name or signature is not valid, or when an interface's methods and handlers,
    ///   or properties and values, are not the same.
    public init(path: String, _ implementations: [BusImplementation], readers: BusReaders? = nil)
        throws(CaptureError)
    {
        guard unsafe sd_bus_object_path_is_valid(path) > 0 else {
            throw CaptureError(.internalFault, "'\(path)' is no object path")
        }
        var values: [String: [String: BusValue]] = [:]
        for part in implementations {
            try part.check()
            guard values.updateValue(part.values, forKey: part.interface.name) == nil else {
                throw CaptureError(.internalFault, "\(path) has \(part.interface.name) twice")
            }
        }
        self.path = path
        self.implementations = implementations
        self.readers = readers
        snapshot = Mutex(values)
    }

    /// All properties now, by interface.
    var properties: [String: [String: BusValue]] { snapshot.withLock { $0 } }

    /// A property's value now.
    public func property(_ name: String, of interface: String) -> BusValue? {
        snapshot.withLock { $0[interface]?[name] }
    }

    /// Sets a property; tells nobody, which is `BusConnection.update`'s part.
    ///
    /// - Returns: Whether the value is another than before.
    /// - Throws: `.internalFault` for an unknown property or a value of another type.
    @discardableResult
    public func setProperty(_ name: String, of interface: String, to value: BusValue) throws(CaptureError) -> Bool {
        try check([name: value], of: interface)
        return snapshot.withLock { $0[interface]?.updateValue(value, forKey: name) != value }
    }

    /// Whether the values are of properties that the interface has, and of their types.
    func check(_ values: [String: BusValue], of interface: String) throws(CaptureError) {
        let declared = implementations.first { $0.interface.name == interface }?.interface.properties ?? []
        for (name, value) in values {
            guard let declaration = declared.first(where: { $0.name == name }) else {
                throw CaptureError(.internalFault, "\(path) has no property \(interface).\(name)")
            }
            try BusType.parse(declaration.signature).check([value], of: "\(interface).\(name)")
        }
    }
}

extension BusImplementation {
    fileprivate func check() throws(CaptureError) {
        let name = interface.name
        guard unsafe sd_bus_interface_name_is_valid(name) > 0 else {
            throw CaptureError(.internalFault, "'\(name)' is no interface name")
        }
        let members = interface.methods.map(\.name) + interface.signals.map(\.name) + interface.properties.map(\.name)
        for member in members where unsafe sd_bus_member_name_is_valid(member) <= 0 {
            throw CaptureError(.internalFault, "'\(member)' is no member name")
        }
        guard Set(interface.methods.map(\.name)) == Set(handlers.keys) else {
            throw CaptureError(.internalFault, "the methods of \(name) and their handlers are not the same")
        }
        guard Set(quick.keys).isSubset(of: handlers.keys) else {
            throw CaptureError(.internalFault, "\(name) has a quick handler of what is no method")
        }
        guard Set(interface.properties.map(\.name)) == Set(values.keys) else {
            throw CaptureError(.internalFault, "the properties of \(name) and their values are not the same")
        }
        for method in interface.methods {
            for argument in method.input + method.output { try argument.check() }
        }
        for argument in interface.signals.flatMap(\.arguments) { try argument.check() }
        for property in interface.properties {
            try BusType.parse(property.signature).check(values[property.name].map { [$0] } ?? [], of: property.name)
        }
    }
}

extension BusArgument {
    fileprivate func check() throws(CaptureError) {
        guard unsafe sd_bus_member_name_is_valid(name) > 0, try BusType.parse(signature).count == 1 else {
            throw CaptureError(.internalFault, "'\(name)' of type '\(signature)' is no argument")
        }
    }
}
