import ArgumentParser
import CaptureKit
import Glibc

struct LockdownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lockdown",
        abstract: "Let only the daemon open cameras and microphones, or undo that.",
        discussion: """
            Without a lockdown consent is advisory: a program whose user may open a device node need not ask. With it, \
            cameras and their media nodes belong to captured, mode 0600, and ALSA's capture nodes move from /dev/snd \
            to a folder of the daemon. The same happens to devices that are plugged in later. Programs that \
            open the nodes themselves stop capturing. The bridges that are installed are turned on, so that programs of \
            V4L2, ALSA and PipeWire ask, too, and then capture through the daemon. Codecs, outputs and playback are \
            not affected. A program that already has a node open keeps it until it closes it.
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
                "lockdown is only for the system's daemon, not for one on a session bus; use --bus system"
            )
        }
    }

    /// Makes sure that it is root who changes the machine.
    ///
    /// - Parameter command: The arguments, as in `lockdown on`.
    func requireRoot(_ command: String) throws(CaptureError) {
        try requireSystem()
        guard geteuid() == 0 else {
            throw CaptureError(.notPermitted, "only root can do this: sudo capturectl \(command)")
        }
    }
}
