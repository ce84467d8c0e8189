import ArgumentParser
import CaptureKit

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what is wrong with this installation, and the command that fixes it.",
        discussion: """
            Exit codes: 0 if everything works (there may be advice), 69 if the daemon cannot be reached, 78 for any \
            other problem.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "First repair a half-applied lockdown, on or off. For root.")
    var mend = false

    func run() async throws {
        let kind = try bus.kind()
        let machine = Machine()
        let installation = InstallationChecks(machine: machine)
        if mend {
            try bus.requireRoot("doctor --mend")
            Output.note(try installation.lockdown.mend().text)
        }
        let daemon = await DaemonChecks(isSystem: kind == .system, machine: machine).run(bus.connect)
        var findings = kind == .system ? installation.files() : []
        findings += daemon + (await DesktopChecks().run()) + installation.nodes()
        findings += installation.others(isSystem: kind == .system)
        findings.append(installation.landlock())
        if json { Output.print(findings.json) } else { Output.print(findings.text) }
        if findings.areWell { return }
        throw ExitCode(findings.contains { $0.check == "daemon" && $0.state == .problem } ? 69 : 78)
    }
}
