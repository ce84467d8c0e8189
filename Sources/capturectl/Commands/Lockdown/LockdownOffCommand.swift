import ArgumentParser
import CaptureKit

struct LockdownOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract: "Give the nodes back to their usual owners. For root."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print the nodes' new state as JSON.")
    var json = false

    func run() async throws {
        try bus.requireRoot("lockdown off")
        let machine = Machine()
        let lockdown = Lockdown(machine: machine)
        let now = try lockdown.turnOff()
        if json {
            let holders = LockdownImpact(machine, daemon: lockdown.daemon).holders
            Output.print(LockdownPresentation.json(now, holders, seesAll: true))
        } else {
            Output.note(now.text)
        }
    }
}
