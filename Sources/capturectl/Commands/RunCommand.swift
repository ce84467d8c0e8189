import ArgumentParser
import ProgramIdentity
import CaptureKit
import CaptureSystem
import Glibc

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a script as a program of its own, so that it can ask for consent.",
        discussion: """
            An interpreter, such as python3 or bash, has no identity of its own, because it runs anything. This \
            command makes a script the program exe:PATH: captured asks about it once, by its own name, and again after \
            its file has changed. Everything that the script starts counts as the script. The script replaces this \
            command, in a scope of your service manager, with the same terminal, environment, descriptors and exit \
            code.

            The script says why it captures by calling SetUsageDescriptions. Or you say it in a file \
            ~/.config/captured/apps.d/NAME.desktop with the lines [Desktop Entry], X-Capture-Program=exe:PATH and \
            X-Capture-CameraUsageDescription=…
            """
    )

    @Argument(help: ArgumentHelp("The script: an executable file.", valueName: "script"), completion: .file())
    var script: String

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The script's arguments.", valueName: "argument"))
    var arguments: [String] = []

    func run() async throws {
        let scope = try RunCommand.scope(of: script, arguments)
        let unit = try scope.unit(run: .random(in: 0...UInt32.max))
        let folder = Environment.value("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        guard unsafe access(folder + "/systemd/private", F_OK) == 0 else {
            throw CaptureError(
                .unreachable,
                "cannot make a scope for the script: your service manager does not run (\(folder)/systemd/private is "
                    + "missing); log in, or as root: loginctl enable-linger \(getuid())"
            )
        }
        unsafe setenv("XDG_RUNTIME_DIR", folder, 0)
        let options = ["--user", "--scope", "--quiet", "--collect", "--unit=\(unit)", "--description=\(scope.path)"]
        do throws(SystemError) {
            try ChildProcess.replaceThisProcess(by: "systemd-run", options + ["--", scope.path] + arguments)
        } catch {
            throw CaptureError(.unreachable, "cannot start systemd-run, which makes the script's scope: \(error)")
        }
    }

    /// Whether a file is a text that names its interpreter.
    ///
    /// - Throws: `inputOutput` if it cannot be read.
    private static func isScript(_ path: String) throws(CaptureError) -> Bool {
        do {
            let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
            var head: [UInt8] = [0, 0]
            let count = try unsafe head.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
            return count == 2 && head == Array("#!".utf8)
        } catch {
            throw CaptureError(.inputOutput, "cannot read \(Printable.text(path)): \(error)")
        }
    }

    /// The scope for a script as it lies there now.
    ///
    /// - Parameter arguments: Its arguments. If it is an interpreter, one of them is the script.
    static func scope(of script: String, _ arguments: [String] = []) throws(CaptureError) -> ScriptScope {
        let shown = Printable.text(script)
        guard let resolved = unsafe realpath(script, nil) else {
            throw CaptureError(.noSuchDevice, "there is no script \(shown): \(SystemError.text(of: errno))")
        }
        defer { unsafe free(resolved) }
        let path = unsafe String(cString: resolved)
        guard let file = ExecutableFile.inspect(path) else {
            throw CaptureError(.noSuchDevice, "\(shown) is not a regular file")
        }
        guard unsafe access(path, X_OK) == 0 else {
            throw CaptureError(.invalidArgument, "\(shown) is not executable; run: chmod +x \(shown)")
        }
        guard !file.isNoScript, try isScript(path) else {
            let script = arguments.first { $0.contains("/") || $0.contains(".") } ?? "SCRIPT"
            throw CaptureError(
                .usage,
                "\(shown) is a program, not a script (a text that begins with #!); start it by itself"
                    + (file.isNoScript
                        ? ", or give the script that it is to run: capturectl run \(Printable.text(script))" : "")
            )
        }
        if !file.isProtected, let place = ExecutableFile.placeOpenToOthers(path, than: getuid()) {
            throw CaptureError(
                .notPermitted,
                "other users can change \(Printable.text(place)), and so replace the script \(shown); "
                    + "move the script to a folder of your own"
            )
        }
        return ScriptScope(of: file)
    }
}
