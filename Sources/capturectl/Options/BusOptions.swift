import ArgumentParser
import CaptureKit

/// Where the daemon is looked for; taken before and after the command's name.
struct BusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bus that the daemon is on: system or session. (default: $CAPTURED_BUS, else system)",
            valueName: "bus"
        )
    )
    var bus: BusChoice?

    /// Connects to the daemon's bus.
    func connect() async throws(CaptureError) -> CaptureDaemon {
        try await CaptureDaemon.connect(to: try kind())
    }

    /// The bus that was chosen, by option or environment.
    func kind() throws(CaptureError) -> BusKind {
        if let bus { return bus.kind }
        guard let name = Environment.value("CAPTURED_BUS"), !name.isEmpty else { return .system }
        guard let choice = BusChoice(rawValue: name) else {
            throw CaptureError(.usage, "CAPTURED_BUS is '\(Printable.text(name))'; it is to be system or session")
        }
        return choice.kind
    }
}

/// The buses by name.
enum BusChoice: String, ExpressibleByArgument, CaseIterable {
    case system
    case session

    var kind: BusKind {
        switch self {
        case .system: .system
        case .session: .session
        }
    }
}
