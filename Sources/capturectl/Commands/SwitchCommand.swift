import ArgumentParser
import CaptureKit

struct SwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Turn all cameras or all microphones off for every program, or on again.",
        discussion: """
            Off: before the command returns, every session that uses the service is interrupted and its files are \
            finished. No start succeeds (77) until the switch is on again. A session that hands frames to its program \
            in memory, or takes photos on demand, is suspended, and then goes on by itself; one that only writes \
            files or pipes ends (77). Answers stay as they are. The switch survives a restart.

            Without arguments, shows the switches. The person at the machine can switch off without a password; \
            switching on takes your password.
            """
    )

    /// What has a switch.
    enum Subject: String, ExpressibleByArgument, CaseIterable {
        case camera, microphone

        var service: AuthorizationService {
            switch self {
            case .camera: .camera
            case .microphone: .microphone
            }
        }
    }

    enum Position: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("camera or microphone.", valueName: "service"))
    var subject: Subject?

    @Argument(help: ArgumentHelp("on or off. Without it, shows the switch.", valueName: "position"))
    var position: Position?

    func run() async throws {
        let all = try await switches().sorted { $0.key < $1.key }
        let rows = all.filter { subject == nil || $0.key == subject?.service }
        if json {
            return Output.print(.object(rows.map { JSON.Member(key: $0.key.rawValue, value: JSON($0.value)) }))
        }
        var table = Table(["SERVICE", "SWITCH"])
        for row in rows { table.add([row.key.rawValue, row.value ? "on" : "off"]) }
        Output.print(table)
    }

    /// Turns the switch, if the command line says so.
    ///
    /// - Returns: The state of all switches, or at least of the one that was turned.
    private func switches() async throws(CaptureError) -> [AuthorizationService: Bool] {
        guard let service = subject?.service, let position else {
            return try await AuthorizationPanel(on: try await bus.connect()).switches()
        }
        return try await bus.withdraw { daemon throws(CaptureError) in
            let panel = AuthorizationPanel(on: daemon)
            let asRoot = "switch \(service.rawValue) \(position.rawValue)"
            try await PasswordAgent.during(asRoot: asRoot) { () async throws(CaptureError) in
                try await panel.setSwitch(service, isOn: position == .on)
            }
            return try await panel.switches()
        } overSocket: { socket throws(CaptureError) in
            try await socket.setSwitch(service, isOn: position == .on)
            return [service: position == .on]
        }
    }
}
