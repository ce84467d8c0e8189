import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct PeerTests {
    @Test func `a connection's process is found and pinned`() async throws {
        let bus = try PrivateBus()
        let (server, client) = (try await bus.connect(), try await bus.connect())
        let facts = try await server.credentials(of: client.uniqueName)
        #expect(facts.user == getuid())
        #expect(facts.pid == getpid())
        #expect(facts.groups.contains(getgid()))
        #expect(facts.executable.path == (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
        var status = stat()
        #expect(unsafe stat("/proc/self/exe", &status) == 0)
        #expect(facts.executable.inode == UInt64(status.st_ino))
        #expect(facts.executable.device == UInt64(status.st_dev))
        #expect(facts.executable.isAtPath && !facts.executable.isDeleted && !facts.executable.isMemory)
        #expect(facts.controlGroup.hasPrefix("/"))
        #expect(facts.startTime > 0)
        #expect(facts.process.descriptor >= 0)
    }

    @Test func `another program's connection names that program`() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let seen = Collector<String>()
        let subscription = try await server.subscribe(BusMatch(interface: testInterface, member: "Happened")) {
            seen.add($0.sender)
        }
        // A python that says that it is there and stays until its input ends.
        let script = """
            import dbus, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            message = dbus.lowlevel.SignalMessage("/a", "\(testInterface)", "Happened")
            bus.send_message(message); bus.flush(); sys.stdin.read()
            """
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        program.arguments = ["-c", script, bus.address]
        let input = Pipe()
        program.standardInput = input
        try program.run()
        let name = try #require(await seen.next().first)
        let facts = try await server.credentials(of: name)
        #expect(facts.pid == program.processIdentifier)
        #expect(facts.executable.path.contains("python3"))
        try input.fileHandleForWriting.close()
        await program.ended()
        let refusal = await #expect(throws: CaptureError.self) { try await server.credentials(of: name) }
        #expect(refusal?.code == .notPermitted)
        subscription.cancel()
    }

    @Test func `a pinned process is unchanged until it runs another program`() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let seen = Collector<String>()
        let subscription = try await server.subscribe(BusMatch(interface: testInterface, member: "Happened")) {
            seen.add($0.sender)
        }
        // A python that says that it is there, and turns into another program when it is told to.
        let script = """
            import dbus, os, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            message = dbus.lowlevel.SignalMessage("/a", "\(testInterface)", "Happened")
            bus.send_message(message); bus.flush(); sys.stdin.readline()
            os.execv("/bin/sh", ["sh", "-c", "echo there; cat"])
            """
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        program.arguments = ["-c", script, bus.address]
        let (input, output) = (Pipe(), Pipe())
        (program.standardInput, program.standardOutput) = (input, output)
        try program.run()
        let name = try #require(await seen.next().first)
        let pin = try #require(PeerPin(try await server.credentials(of: name)))
        #expect(pin.isUnchanged)
        #expect(pin.isUnchanged)
        try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        #expect(!pin.isUnchanged)
        try input.fileHandleForWriting.close()
        await program.ended()
        #expect(!pin.isUnchanged)
        subscription.cancel()
    }

    @Test(arguments: [":1.4711", "org.freedesktop.DBus", ""])
    func `who is not a connection is refused`(_ name: String) async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let refusal = await #expect(throws: CaptureError.self) { try await server.credentials(of: name) }
        #expect(refusal?.code == .notPermitted)
    }
}

/// What python's programs send signals of.
let testInterface = "org.capturekit.Test.Echo"
