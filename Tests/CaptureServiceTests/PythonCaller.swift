import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

/// A connection of another program's: Python makes it, says that it is there, and then does what the test wants.
final class PythonCaller: Sendable {
    let process = Process()
    /// Its connection's name.
    let name: String
    private let (input, output) = (Pipe(), Pipe())

    /// Starts it, and returns when `server` knows of it.
    ///
    /// - Parameters:
    ///   - command: What runs Python.
    ///   - after: What it does then, in Python; `inherit()` hands its sockets to what it becomes.
    init(
        _ bus: PrivateBus,
        seenBy server: BusConnection,
        command: [String] = ["/usr/bin/python3"],
        then after: String = "sys.stdin.read()"
    ) async throws {
        let script = """
            import dbus, os, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            bus.send_message(dbus.lowlevel.SignalMessage("/a", "org.capturekit.Test.Echo", "Happened"))
            bus.flush()
            def inherit():
                for n in os.listdir("/proc/self/fd"):
                    try:
                        if os.readlink("/proc/self/fd/" + n).startswith("socket:"): os.set_inheritable(int(n), True)
                    except OSError:
                        pass
            \(after)
            """
        let seen = Collector<String>()
        let match = BusMatch(interface: "org.capturekit.Test.Echo", member: "Happened")
        let subscription = try await server.subscribe(match) { seen.add($0.sender) }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst()) + ["-c", script, bus.address]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        name = try #require(await seen.next().first)
        subscription.cancel()
    }

    /// Writes a line for it to read.
    func tell(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Waits until it prints something.
    func printed() -> Bool { !output.fileHandleForReading.availableData.isEmpty }

    /// Ends its input, which it ends with.
    func end() async throws {
        try input.fileHandleForWriting.close()
        await process.ended()
    }
}

/// Whether this kernel has the list of sockets (CONFIG_UNIX_DIAG).
let canListSockets = (try? BusSockets.clients(beside: 0)) != nil
