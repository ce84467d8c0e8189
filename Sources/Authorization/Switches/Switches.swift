public import CaptureCore

/// Which services are switched off for everybody. A switch stands above every answer and policy, and changes none of them.
public struct Switches: Hashable, Sendable {
    /// Those that are switched off.
    public internal(set) var off: Set<Service> = []
    /// Why that cannot be known, so that everything counts as switched off; empty where all is well.
    public internal(set) var fault = ""

    /// Everything is on.
    public init() {}

    /// The given services are off.
    public init(off: Set<Service>) {
        self.off = off
    }

    /// Whether a service is off.
    public func isOff(_ service: Service) -> Bool { !fault.isEmpty || off.contains(service) }

    /// Why starts are refused that need any of the services; `nil` when none is off.
    func refusal(_ services: some Sequence<Service>) -> CaptureError? {
        let those = services.filter(isOff).sorted()
        guard let first = those.first else { return nil }
        let command = "capturectl switch \(first.rawValue) on"
        if !fault.isEmpty {
            return CaptureError(.switchedOff, "\(fault), so everything counts as switched off; fix it with: \(command)")
        }
        let what = those.map(\.title).joined(separator: " and ")
        return CaptureError(
            .switchedOff,
            "\(what) \(those.count == 1 ? "is" : "are") switched off for every program; to switch on: \(command)"
        )
    }
}

/// The switches, and the file that keeps them. Part of the gate's state.
struct Switchboard {
    private let file: SwitchFile?
    private let remembered: RememberedDecisions
    private(set) var switches: Switches { didSet { remembered.forget() } }

    init(_ file: SwitchFile?, remembered: RememberedDecisions) {
        self.file = file
        self.remembered = remembered
        switches = file?.load() ?? Switches()
    }

    /// Switches a service off; `save` keeps that over a restart.
    mutating func turnOff(_ service: Service) { switches = Switches(off: known.union([service])) }

    /// Switches a service on once that is on disk.
    mutating func turnOn(_ service: Service) throws(CaptureError) {
        let off = known.subtracting([service])
        try file?.save(off)
        switches = Switches(off: off)
    }

    func save() throws(CaptureError) { try file?.save(switches.off) }

    /// What cannot be known is off, and is written down so with the first change.
    private var known: Set<Service> { switches.fault.isEmpty ? switches.off : Set(Service.allCases) }
}
