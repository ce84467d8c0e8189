import ArgumentParser
import CaptureKit

/// Where to look for the daemon; accepted before and after the command's name.
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

    /// Seconds to wait for the daemon's answer over the bus, before the control socket is tried.
    private static let patience = 0.3

    /// Runs an action that must work while the bus hangs. Uses the bus if the daemon answers there, and its control
    /// socket otherwise.
    ///
    /// If the socket cannot do it, the bus must, however long that takes.
    func withdraw<Value: Sendable>(
        overBus: (CaptureDaemon) async throws(CaptureError) -> Value,
        overSocket: (ControlSocket) async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let kind = try kind()
        if let socket = ControlSocket(of: kind),
            await !CaptureDaemon.answers(on: kind, within: BusOptions.patience)
        {
            do throws(CaptureError) {
                return try await overSocket(socket)
            } catch {
                guard error.code == .unreachable else { throw error }
            }
        }
        return try await overBus(try await connect())
    }

    /// The bus that was chosen, by option or environment.
    func kind() throws(CaptureError) -> BusKind {
        if let bus { return bus.kind }
        return try CaptureDaemon.busOfEnvironment()
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
