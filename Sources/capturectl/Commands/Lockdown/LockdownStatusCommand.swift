import ArgumentParser
import CaptureKit
import Glibc

struct LockdownStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell of each node who may open it and who holds it.",
        discussion: "To root the programs of everyone are shown, to others their own."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try bus.requireSystem()
        let lockdown = Lockdown(machine: Machine())
        let isRoot = geteuid() == 0
        let holders = isRoot ? seen(lockdown) : await told(lockdown)
        if json {
            Output.print(LockdownPresentation.json(lockdown.status(), holders, seesAll: isRoot))
        } else {
            Output.print(LockdownPresentation.text(lockdown.status(), holders, seesAll: isRoot))
        }
    }

    private func seen(_ lockdown: Lockdown) -> [NodeHolder] {
        LockdownImpact(lockdown.machine, daemon: lockdown.daemon).holders
    }

    /// The daemon sees those of a user's own programs, too, that may not be looked into by others. Without it, what is
    /// seen from here.
    private func told(_ lockdown: Lockdown) async -> [NodeHolder] {
        let own = seen(lockdown)
        do throws(CaptureError) {
            let told = try await bus.connect().holders()
            return told + own.filter { seen in !told.contains { $0.node == seen.node && $0.process == seen.process } }
        } catch {
            return own
        }
    }
}
