import ArgumentParser
import CaptureKit

/// The root of the commands.
struct Capturectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capturectl",
        abstract: "Cameras and microphones through captured: list, record, and decide who may.",
        discussion: """
            A program that captures asks once; the answer is remembered and is changed by 'capturectl auth'.

            Exit codes: 0 done, 64 usage, 65 bad data, 66 no such device, session or asset, 69 daemon not reachable, \
            70 internal, 74 input or output (device or recorder lost, disk full), 75 busy, dismissed, timed out, asked \
            too often or nobody to ask, 77 denied, restricted, revoked, switched off or locked, 78 missing usage description.
            """,
        version: CaptureVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Devices",
                subcommands: [DevicesCommand.self, FormatsCommand.self, ControlCommand.self]
            ),
            CommandGroup(
                name: "Capture",
                subcommands: [
                    RecordCommand.self, StartCommand.self, StopCommand.self, PhotoCommand.self, FramesCommand.self,
                    ListenCommand.self,
                ]
            ),
            CommandGroup(name: "Library", subcommands: [LibraryCommand.self]),
            CommandGroup(
                name: "Consent",
                subcommands: [
                    AuthCommand.self, SwitchCommand.self, AgentCommand.self, LockdownCommand.self, HistoryCommand.self,
                ]
            ),
            CommandGroup(
                name: "State",
                subcommands: [
                    SessionsCommand.self, StatusCommand.self, MonitorCommand.self, DoctorCommand.self,
                ]
            ),
        ]
    )

    @OptionGroup var bus: BusOptions
}
