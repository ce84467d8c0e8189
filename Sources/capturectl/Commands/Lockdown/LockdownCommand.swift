import ArgumentParser
import CaptureKit
import Glibc

struct LockdownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lockdown",
        abstract: "Give the device nodes of cameras and microphones to the daemon alone, or back.",
        discussion: """
            Without it consent is advisory: a program whose user may open a device node need not ask. With it the nodes \
            of cameras, their media nodes and the capture nodes of ALSA are captured's, mode 0600, those that are \
            plugged in later too; what captures past the daemon, PipeWire included, stops. Codecs, outputs and \
            playback stay as they are. A program that has a node open keeps it until it closes it.
            """,
        subcommands: [LockdownOnCommand.self, LockdownOffCommand.self, LockdownStatusCommand.self]
    )

    @OptionGroup var bus: BusOptions
}

extension BusOptions {
    /// Makes sure that it is about the system's daemon.
    func requireSystem() throws(CaptureError) {
        guard case .system = try kind() else {
            throw CaptureError(
                .usage,
                "the lockdown gives devices to the system's daemon; one on a session bus is its user's: use --bus system"
            )
        }
    }

    /// Makes sure that it is root who changes the machine.
    func requireRoot(_ command: String) throws(CaptureError) {
        try requireSystem()
        guard geteuid() == 0 else {
            throw CaptureError(.notPermitted, "device nodes are root's to give: sudo capturectl lockdown \(command)")
        }
    }
}
