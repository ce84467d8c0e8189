import ArgumentParser
import CaptureKit

struct SwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Turn all cameras or all microphones off for every program, or on again.",
        discussion: """
            Off: every session that uses the service is interrupted before the command returns, its files are finished, and \
            no start succeeds (77) until it is on again. A session that hands frames to its program in memory is suspended \
            and goes on by itself then; one that only writes files or pipes has ended (77). Answers stay as they are. It \
            lasts over a restart.

            Without arguments: how the switches stand. Switching off is free for who sits at the machine; switching on takes \
            your password.
            """
    )

    enum Position: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("camera or microphone.", valueName: "service"))
    var service: AuthorizationService?

    @Argument(help: ArgumentHelp("on or off; how it stands without it.", valueName: "position"))
    var position: Position?

    func validate() throws {
        if let service, !AuthorizationService.ofDevices.contains(service) {
            throw ValidationError("there is no switch for \(service.rawValue); give camera or microphone")
        }
    }

    func run() async throws {
        let rows = try await switches().filter { service == nil || $0.key == service }.sorted { $0.key < $1.key }
        if json {
            return Output.print(.object(rows.map { JSON.Member(key: $0.key.rawValue, value: JSON($0.value)) }))
        }
        var table = Table(["SERVICE", "SWITCH"])
        for row in rows { table.add([row.key.rawValue, row.value ? "on" : "off"]) }
        Output.print(table.text)
    }

    /// Turns the switch, if the command line says so.
    ///
    /// - Returns: The state of all switches, or at least of the one that was turned.
    private func switches() async throws(CaptureError) -> [AuthorizationService: Bool] {
        guard let service, let position else {
            return try await AuthorizationPanel(on: try await bus.connect()).switches()
        }
        return try await bus.withdraw { daemon throws(CaptureError) in
            let panel = AuthorizationPanel(on: daemon)
            try await panel.setSwitch(service, isOn: position == .on)
            return try await panel.switches()
        } overSocket: { socket throws(CaptureError) in
            try await socket.setSwitch(service, isOn: position == .on)
            return [service: position == .on]
        }
    }
}
