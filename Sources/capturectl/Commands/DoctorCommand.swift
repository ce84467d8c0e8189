import ArgumentParser
import CaptureKit
import Glibc

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what is wrong with this installation, and the command that fixes it.",
        discussion: """
            It also lists the installed programs that capture by V4L2, ALSA, PulseAudio or PipeWire, and how each \
            comes to captured. For that it reads which functions of which libraries each program on PATH and in the \
            desktop's menu calls, for at most three seconds. A page of them is shown: the programs that captured cannot \
            reach, and those of the menu, first.

            Exit codes: 0 if everything works (there may be advice), 69 if the daemon cannot be reached, 78 for any \
            other problem.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    @Flag(help: "First repair a half-applied lockdown, on or off, and its bridges. For root.")
    var mend = false

    @Flag(help: "List all programs that capture, with their files, and check nothing else.")
    var programs = false

    func run() async throws {
        let kind = try bus.kind()
        let machine = Machine()
        let installation = InstallationChecks(machine: machine)
        let bridges = Bridges(machine: machine)
        if mend {
            try bus.requireRoot("doctor --mend")
            // Each by itself: what is wrong with one does not keep the other as it is.
            let lockdown = Result { () throws(CaptureError) in try installation.lockdown.mend() }
            let mended = bridges.mend(isLocked: installation.lockdown.isOn)
            do throws(CaptureError) {
                try mended.tell()
            } catch {
                if case .failure(let first) = lockdown { Output.message(first.message) }
                throw error
            }
            Output.note(try lockdown.get().text)
        }
        let states = bridges.states(isLocked: installation.lockdown.isOn)
        let list = ProgramPresentation(.take(machine, programs ? .patient : .usual), states, machine)
        let width = table.wide ? nil : TerminalSize.width(of: STDOUT_FILENO)
        if programs {
            if table.json { Output.print(list.json) } else { Output.print(list.all(width: width)) }
            return
        }
        let daemon = await DaemonChecks(isSystem: kind == .system, machine: machine).run(bus.connect)
        var findings = kind == .system ? installation.files() : []
        findings += daemon + (await DesktopChecks().run()) + installation.nodes()
        findings += installation.others(isSystem: kind == .system)
        findings.append(installation.landlock())
        if kind == .system { findings += states.map(BridgeChecks(isLocked: installation.lockdown.isOn).judge) }
        if table.json {
            Output.print(findings.json(states, list))
        } else {
            Output.print(findings.text + "\n\n" + list.page(width: width))
        }
        if findings.areWell { return }
        throw ExitCode(findings.contains { $0.check == "daemon" && $0.state == .problem } ? 69 : 78)
    }
}
