import BusSupport
import CaptureBus
import Foundation
import Synchronization
import Testing

/// A process that a test interrupts.
final class ProcessHandle: Sendable {
    fileprivate let process = Mutex<Int32?>(nil)

    /// As Ctrl-C does, once the process would not just die of it.
    func interrupt() {
        guard let process = process.withLock({ $0 }) else { return }
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        let caught = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
        if caught & (1 << UInt64(SIGINT - 1)) != 0 { kill(process, SIGINT) }
    }
}

/// Runs `capturectl library` as a process of its own, on a private bus with a library in memory.
final class LibraryTool: Sendable {
    /// What a run said.
    struct Said {
        var code: Int32
        var output: String
        var messages: String

        /// Standard output as JSON.
        func json() throws -> Any {
            try JSONSerialization.jsonObject(with: Data(output.utf8))
        }

        /// The same, an array of objects.
        func rows() throws -> [[String: Any]] {
            try #require(try json() as? [[String: Any]])
        }
    }

    let fake: FakeLibrary
    let daemon: FakeDaemon
    /// A folder of the test's own.
    let folder: String

    init(_ fake: FakeLibrary = FakeLibrary(), replacing answers: [String: FakeDaemon.Answer] = [:]) async throws {
        self.fake = fake
        daemon = try await FakeDaemon(fake, replacing: answers)
        folder = NSTemporaryDirectory() + "capturectl-library-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func calls(_ member: String) -> [FakeDaemon.Heard] { daemon.calls(member) }

    /// A path in the folder.
    func path(_ name: String) -> String { folder + "/" + name }

    /// Writes a file into the folder.
    @discardableResult
    func write(_ name: String, _ content: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: url)
        return url.path
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
    }

    /// The files below a folder, in their order.
    func files(in name: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String } ?? []
        return all.filter { file in
            let kind = try? FileManager.default.attributesOfItem(atPath: path(name) + "/" + file)[.type]
            return kind as? FileAttributeType != .typeDirectory
        }.sorted()
    }

    /// Does what blocks on a thread of its own: the daemon answers on those of the tests' tasks.
    private static func onThread(_ body: @escaping @Sendable () -> Data) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// Runs `capturectl library` with arguments.
    func run(_ arguments: String...) async throws -> Said { try await run(arguments) }

    /// Runs `capturectl library` with arguments.
    ///
    /// - Parameters:
    ///   - handle: Is given the process.
    ///   - onOutput: Told of all of standard output so far at each piece, with what interrupts the program.
    func run(
        _ arguments: [String],
        started handle: ProcessHandle? = nil,
        onOutput: (@Sendable (String, @Sendable () -> Void) -> Void)? = nil
    ) async throws -> Said {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: RealDaemon.programs + "/capturectl")
        process.arguments = ["--bus", "session", "library"] + arguments
        process.environment = [
            "DBUS_SESSION_BUS_ADDRESS": daemon.bus.address, "TZ": "UTC", "PATH": "/usr/bin:/bin",
            // On a busy machine an answer may take longer than the 10 s after which it gives up.
            "SYSTEMD_BUS_TIMEOUT": "240",
        ]
        let (output, messages) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = messages
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let pid = process.processIdentifier
        handle?.process.withLock { $0 = pid }
        async let said = LibraryTool.onThread {
            defer { try? messages.fileHandleForReading.close() }
            return messages.fileHandleForReading.readDataToEndOfFile()
        }
        async let printed = LibraryTool.onThread {
            // By hand: Foundation keeps what a thread of its own was made with.
            defer { try? output.fileHandleForReading.close() }
            var all = Data()
            while true {
                let piece = output.fileHandleForReading.availableData
                if piece.isEmpty { return all }
                all += piece
                onOutput?(String(decoding: all, as: UTF8.self)) { kill(pid, SIGINT) }
            }
        }
        let (text, notes) = await (printed, said)
        await process.ended()
        return Said(
            code: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            messages: String(decoding: notes, as: UTF8.self)
        )
    }
}
