import ArgumentParser
import CaptureKit

/// The root of the commands.
struct Capturectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capturectl",
        abstract: "Cameras and microphones through captured: list, record, and decide who may.",
        discussion: """
            A program that captures asks once. The answer is remembered; 'capturectl auth' changes it.

            Exit codes: 0 is success, 64 wrong usage, 65 bad data, 66 no such device, session or asset, 69 daemon not \
            reachable, and 70 an internal error. 74 is an error of input or output: device or recorder lost, or disk \
            full. 75 means busy, or not answered: dismissed, timed out, asked too often, or nobody to ask. 77 means \
            denied, restricted, revoked, switched off or locked. 78 means that the usage description is missing.
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
                    RecordCommand.self, StartCommand.self, BeginCommand.self, MarkCommand.self, NoteCommand.self,
                    CutCommand.self,
                    PauseCommand.self, ResumeCommand.self, DisableCommand.self, EnableCommand.self, AdjustCommand.self,
                    StopCommand.self, PhotoCommand.self, TakeCommand.self, PreviewCommand.self, FramesCommand.self,
                    ListenCommand.self, MetadataCommand.self, RunCommand.self,
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
