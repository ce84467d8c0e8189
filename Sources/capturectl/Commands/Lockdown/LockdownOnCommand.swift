import ArgumentParser
import CaptureKit
import Glibc

struct LockdownOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Let only the daemon open the nodes, after saying what that stops. For root.",
        discussion: """
            Programs that do not know captured come to it by bridges. This turns on those that are installed: V4L2 by \
            /etc/ld.so.preload, ALSA by /etc/alsa/conf.d, and PipeWire by a user unit. 'capturectl lockdown off' turns \
            off what this turned on, and keeps what a person did.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(name: .shortAndLong, help: "Do not ask. Needed without a terminal.")
    var yes = false

    @Flag(help: "Print the nodes' new state as JSON.")
    var json = false

    @Flag(help: "Leave the bridges to other programs as they are.")
    var noBridges = false

    func run() async throws {
        try bus.requireRoot("lockdown on")
        let machine = Machine()
        let lockdown = Lockdown(machine: machine)
        let bridges = Bridges(machine: machine)
        let before = lockdown.status()
        let states = bridges.states(isLocked: before.isOn)
        let afterwards = noBridges ? states : states.turnedOn
        if !(before.isOn && before.isWhole && afterwards == states) {
            let programs = ProgramPresentation(.take(machine), afterwards, machine)
            let impact = LockdownImpact(machine, daemon: lockdown.daemon, programs: programs)
            Output.note(impact.text)
            if !noBridges { Output.note(bridges.plan(states)) }
            Output.note(programs.page(width: TerminalSize.width(of: STDERR_FILENO)))
            let keeping = impact.keeping()
            if !keeping.isEmpty { Output.note(keeping) }
            if !yes { try confirm() }
        }
        let now = try lockdown.turnOn()
        let changes = noBridges ? Bridges.Outcome() : bridges.turnOn()
        let state = bridges.states(isLocked: true)
        if json {
            let holders = LockdownImpact.holders(machine, daemon: lockdown.daemon)
            Output.print(LockdownPresentation.json(now, holders, seesAll: true, state))
        } else {
            Output.note("\(now.text)\n\(state.text)")
        }
        try changes.tell()
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
