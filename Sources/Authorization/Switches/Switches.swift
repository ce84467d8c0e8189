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
