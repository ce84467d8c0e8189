import ArgumentParser
import CaptureKit
import Glibc

struct LockdownOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Let only the daemon open the nodes, after saying what that stops. For root."
    )

    @OptionGroup var bus: BusOptions

    @Flag(name: .shortAndLong, help: "Do not ask. Needed without a terminal.")
    var yes = false

    @Flag(help: "Print the nodes' new state as JSON.")
    var json = false

    func run() async throws {
        try bus.requireRoot("lockdown on")
        let machine = Machine()
        let lockdown = Lockdown(machine: machine)
        let impact = LockdownImpact(machine, daemon: lockdown.daemon)
        let before = lockdown.status()
        if !(before.isOn && before.isWhole) {
            Output.note(impact.text)
            let keeping = impact.keeping()
            if !keeping.isEmpty { Output.note(keeping) }
            if !yes { try confirm() }
        }
        let now = try lockdown.turnOn()
        let holders = LockdownImpact(machine, daemon: lockdown.daemon).holders
        if json {
            Output.print(LockdownPresentation.json(now, holders, seesAll: true))
        } else {
            Output.note(now.text)
        }
    }

    private func confirm() throws(CaptureError) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw CaptureError(.usage, "nothing was changed: there is no terminal to ask on, and --yes was not given")
        }
        Output.write("Lock them down? [y/N] ", to: STDERR_FILENO)
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CaptureError(.dismissed, "nothing was changed")
        }
    }
}
