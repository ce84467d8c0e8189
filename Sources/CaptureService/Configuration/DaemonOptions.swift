import CaptureBus

/// What the command line says.
public struct DaemonOptions: Sendable {
    var bus: BusKind
    var synthetic: Bool
    var stateDirectory: String?
    var configDirectory: String?
    var recorder: String?

    /// Options for `Daemon.run`.
    ///
    /// - Parameters:
    ///   - bus: The bus to serve: `system`, `session`, or an address.
    ///   - synthetic: Whether to offer a synthetic camera, depth camera and microphone beside the real ones.
    ///   - stateDirectory: Where answers are kept; `nil` for the bus's usual place.
    ///   - configDirectory: Where configuration and policy are, instead of the usual places.
    ///   - recorder: The recorder to start as a child, instead of the usual way.
    public init(
        bus: String,
        synthetic: Bool,
        stateDirectory: String?,
        configDirectory: String?,
        recorder: String?
    ) {
        self.bus = BusKind(argument: bus)
        self.synthetic = synthetic
        self.stateDirectory = stateDirectory
        self.configDirectory = configDirectory
        self.recorder = recorder
    }

    /// Whether this is the machine's daemon rather than one of development, the demo and tests.
    var isSystem: Bool { bus == .system }
}

extension BusKind {
    /// A bus by the word of the command line.
    init(argument: String) {
        switch argument {
        case "system": self = .system
        case "session": self = .session
        default: self = .address(argument)
        }
    }
}
