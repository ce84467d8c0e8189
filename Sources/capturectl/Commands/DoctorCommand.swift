import ArgumentParser
import CaptureKit

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Tell what is wrong with this installation, and the command that mends it.",
        discussion: """
            Exit codes: 0 when nothing keeps anything from working (advice may be given), 69 when the daemon cannot be \
            reached, 78 for any other problem.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let kind = try bus.kind()
        let machine = Machine()
        let installation = InstallationChecks(machine: machine)
        let daemon = await DaemonChecks(isSystem: kind == .system, machine: machine).run(bus.connect)
        var findings = kind == .system ? installation.files() : []
        findings += daemon + installation.nodes() + installation.others(isSystem: kind == .system)
        findings.append(installation.landlock())
        if json { Output.print(findings.json) } else { Output.print(findings.text) }
        if findings.areWell { return }
        throw ExitCode(findings.contains { $0.check == "daemon" && $0.state == .problem } ? 69 : 78)
    }
}
