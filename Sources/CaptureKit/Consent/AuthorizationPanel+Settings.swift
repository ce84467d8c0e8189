public import CaptureCore
import CaptureSystem
import Glibc

/// Where the person changes what a program may do.
extension AuthorizationPanel {
    /// The command with which the person changes what this program may do, for a message or a page of help.
    public func settingsCommand() async throws(CaptureError) -> String {
        try await settings().map(AuthorizationPanel.quoted).joined(separator: " ")
    }

    /// Opens that command in a window of the person's terminal. Call this after a refusal, if the person wants to change
    /// the answer. It changes nothing by itself: the person decides there, with a password if it allows more.
    ///
    /// Returns when the terminal was started. A change is told by `CaptureDaemon.events()`, as `consentChanged`.
    ///
    /// - Throws: `nobodyToAsk`, with the command to type, if there is no desktop or no terminal program, as in a sandbox.
    public func openSettings() async throws(CaptureError) {
        let command = try await settings()
        func environment(_ name: String) -> String { unsafe getenv(name).map { unsafe String(cString: $0) } ?? "" }
        let path = environment("PATH")
        let isDesktop = !environment("WAYLAND_DISPLAY").isEmpty || !environment("DISPLAY").isEmpty
        guard isDesktop, let terminal = AuthorizationPanel.terminal(in: path) else {
            throw AuthorizationPanel.noWindow(command, isDesktop ? "no terminal program" : "no desktop")
        }
        do throws(SystemError) {
            let nothing = try Descriptor.open("/dev/null", O_RDWR)
            let child = try ChildProcess.spawn(
                terminal.program,
                terminal.arguments + command,
                standardInput: nothing,
                standardOutput: nothing
            )
            // Reaps the terminal when the person closes its window.
            try WorkerThread.detached(name: "settings") { ChildProcess.reap(child) }
        } catch {
            throw AuthorizationPanel.noWindow(command, "\(error)")
        }
    }

    private func settings() async throws(CaptureError) -> [String] {
        ["capturectl"] + (daemon.isOnSessionBus ? ["--bus", "session"] : [])
            + ["auth", "settings", try await whoAmI().program]
    }

    /// The first program that opens a terminal for a command, and its arguments before that.
    ///
    /// - Parameter path: Folders, as in the environment.
    static func terminal(in path: String) -> (program: String, arguments: [String])? {
        for (name, arguments) in [("xdg-terminal-exec", []), ("x-terminal-emulator", ["-e"])] {
            for folder in path.split(separator: ":") where folder.hasPrefix("/") {
                if Files.isProgram("\(folder)/\(name)") { return ("\(folder)/\(name)", arguments) }
            }
        }
        return nil
    }

    private static func noWindow(_ command: [String], _ why: String) -> CaptureError {
        CaptureError(
            .nobodyToAsk,
            "cannot show the settings here: \(why); the person can type: "
                + command.map(quoted).joined(separator: " ")
        )
    }

    /// A word as a shell takes it.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_./:@".unicodeScalars.contains(scalar))
        }
        if isPlain { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
