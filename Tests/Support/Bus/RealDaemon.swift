import CaptureBus
import CaptureCore
public import CaptureKit
import CaptureSystem
import Foundation

/// A captured for one test, with the synthetic camera and microphone, on a bus of its own. Its recorders are its
/// children. It ends with its last reference. Thread-safe.
public final class RealDaemon: Sendable {
    /// Its bus.
    public let bus: PrivateBus
    /// The folder of its answers and settings. A test may put files there.
    public let folder: String
    private let process: Process

    /// The folder with the programs that were built with the tests.
    public static let programs: String = {
        let own = Files.link(at: "/proc/self/exe") ?? ""
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }()

    /// Starts it and returns when it is on the bus.
    ///
    /// - Parameters:
    ///   - closing: The standard descriptors to close, in shell syntax.
    ///   - configuration: Its captured.conf.
    public init(closing: String = "", configuration: String = "") async throws {
        bus = try PrivateBus()
        folder = NSTemporaryDirectory() + "captured-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder + "/config/captured/apps.d",
            withIntermediateDirectories: true
        )
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/config/captured/captured.conf"))
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "exec \"$0\" \"$@\" \(closing)", RealDaemon.programs + "/captured", "--bus", "session", "--synthetic",
            "--state-dir", folder + "/state",
        ]
        process.environment = RealDaemon.environment(bus, folder)
        process.standardInput = FileHandle.nullDevice
        let log = folder + "/captured.log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try output.close()
        let client = try await BusConnection.open(bus.kind)
        while try await client.owner(of: CaptureNames.service) == nil {
            guard process.isRunning else { throw CaptureError(.unreachable, "captured did not start: " + self.log) }
            try await Task.sleep(for: .milliseconds(20))
        }
        await client.close()
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// What it has written to standard error.
    public var log: String { (try? String(contentsOfFile: folder + "/captured.log", encoding: .utf8)) ?? "" }

    /// The file behind a descriptor of the daemon, or of one of its children.
    public func file(_ number: Int, of child: Int32? = nil) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(child ?? process.processIdentifier)/fd/\(number)"
        )
    }

    /// The running recorders. They are its children, as doors are.
    public func recorders() throws -> [Int32] {
        try children().filter { child in
            // One that has ended meanwhile runs no program.
            Files.link(at: "/proc/\(child)/exe")?.hasSuffix("/captured-recorder") == true
        }
    }

    private func children() throws -> [Int32] {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/task")
        return threads.flatMap { thread in
            // A thread that has ended meanwhile has none.
            let path = "/proc/\(process.processIdentifier)/task/\(thread)/children"
            let children = try? String(contentsOfFile: path, encoding: .utf8)
            return (children ?? "").split(separator: " ").compactMap { Int32($0) }
        }
    }

    /// The environment of programs that use it.
    public var environment: [String: String] { RealDaemon.environment(bus, folder) }

    private static func environment(_ bus: PrivateBus, _ folder: String) -> [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "CAPTURED_BUS": "session", "XDG_CONFIG_HOME": folder + "/config",
            "PATH": "/usr/bin:/bin", "TZ": "UTC",
            // On a busy machine an answer may take longer than the 10 s after which programs give up.
            "SYSTEMD_BUS_TIMEOUT": "240",
        ]
    }

    /// A connection of this process, which may use the camera and the microphone.
    public func client() async throws -> CaptureDaemon {
        let daemon = try await CaptureDaemon.connect(to: bus.kind)
        try await allow(try await AuthorizationPanel(on: daemon).whoAmI().program, named: "tests")
        return daemon
    }

    /// Gives capturectl a usage description and a yes.
    public func allowCommandLine() async throws {
        let said = try await control("auth", "whoami", "--json")
        let facts = try JSONSerialization.jsonObject(with: Data(said.utf8)) as? [String: Any]
        guard let program = facts?["program"] as? String else {
            throw CaptureError(.badData, "capturectl auth whoami said: \(said)")
        }
        try await allow(program, named: "capturectl")
    }

    private func allow(_ program: String, named name: String) async throws {
        let entry = """
            [Desktop Entry]
            Type=Application
            Name=\(name)
            X-Capture-Program=\(program)
            X-Capture-CameraUsageDescription=Tests
            X-Capture-MicrophoneUsageDescription=Tests

            """
        let path = folder + "/config/captured/apps.d/\(name).desktop"
        try entry.write(toFile: path, atomically: false, encoding: .utf8)
        for service in ["camera", "microphone"] { try await control("auth", "set", program, service, "authorized") }
    }

    /// Runs capturectl and returns its output.
    ///
    /// - Throws: Its messages, if it fails.
    @discardableResult
    public func control(_ arguments: String...) async throws -> String {
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: RealDaemon.programs + "/capturectl")
        tool.arguments = arguments
        tool.environment = environment
        tool.standardInput = FileHandle.nullDevice
        let path = folder + "/capturectl-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        tool.standardOutput = output
        tool.standardError = output
        try tool.run()
        try output.close()
        let pid = tool.processIdentifier
        while tool.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        let said = try String(contentsOfFile: path, encoding: .utf8)
        guard tool.terminationStatus == 0 else {
            throw CaptureError(.internalFault, "capturectl \(arguments) (\(pid)): \(said)\(log)")
        }
        return said
    }
}
