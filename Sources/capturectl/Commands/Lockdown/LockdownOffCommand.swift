import ArgumentParser
import CaptureKit

struct LockdownOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract: "Give the nodes back to their usual owners. For root.",
        discussion: "Also turns off the bridges that 'capturectl lockdown on' turned on."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print the nodes' new state as JSON.")
    var json = false

    func run() async throws {
        try bus.requireRoot("lockdown off")
        let machine = Machine()
        let lockdown = Lockdown(machine: machine)
        let bridges = Bridges(machine: machine)
        let now = try lockdown.turnOff()
        let changes = bridges.turnOff()
        let state = bridges.states(isLocked: false)
        if json {
            let holders = LockdownImpact.holders(machine, daemon: lockdown.daemon)
            Output.print(LockdownPresentation.json(now, holders, seesAll: true, state))
        } else {
            Output.note("\(now.text)\n\(state.text)")
        }
        try changes.tell()
    }
}
