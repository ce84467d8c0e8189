import ArgumentParser
import CaptureKit
import Glibc

struct LockdownStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show for each node who may open it and who has it open.",
        discussion: "Root sees everyone's programs, others see their own."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        try bus.requireSystem()
        let lockdown = Lockdown(machine: Machine())
        let isRoot = geteuid() == 0
        let holders = isRoot ? seen(lockdown) : await told(lockdown)
        let status = lockdown.status()
        let states = Bridges(machine: lockdown.machine).states(isLocked: status.isOn)
        if table.json {
            Output.print(LockdownPresentation.json(status, holders, seesAll: isRoot, states))
        } else {
            let width = table.wide ? nil : TerminalSize.width(of: STDOUT_FILENO)
            Output.print(LockdownPresentation.text(status, holders, seesAll: isRoot, states, width: width))
        }
    }

    private func seen(_ lockdown: Lockdown) -> [NodeHolder] {
        LockdownImpact.holders(lockdown.machine, daemon: lockdown.daemon)
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
