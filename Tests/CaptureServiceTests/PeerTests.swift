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
        #expect(!facts.executable.isDeleted)
        #expect(try ControlGroup.of(facts.pid).path.hasPrefix("/"))
        #expect(facts.startTime > 0)
        #expect(facts.process.descriptor >= 0)
    }

    @Test func `another program's connection names that program`() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let program = try await PythonCaller(bus, seenBy: server)
        let facts = try await server.credentials(of: program.name)
        #expect(facts.pid == program.process.processIdentifier)
        #expect(facts.executable.path.contains("python3"))
        try await program.end()
        #expect(await code { try await server.credentials(of: program.name) } == .notPermitted)
    }

    @Test func `a pinned process is unchanged until it runs another program`() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        // It turns into another program when it is told to.
        let program = try await PythonCaller(
            bus,
            seenBy: server,
            then: """
                sys.stdin.readline()
                os.execv("/bin/sh", ["sh", "-c", "echo there; cat"])
                """
        )
        let pin = try #require(PeerPin(try await server.credentials(of: program.name)))
        #expect(pin.isUnchanged)
        #expect(pin.isUnchanged)
        try program.tell("go")
        #expect(program.printed())
        #expect(!pin.isUnchanged)
        try await program.end()
        #expect(!pin.isUnchanged)
    }

    @Test(arguments: [":1.4711", "org.freedesktop.DBus", ""])
    func `who is not a connection is refused`(_ name: String) async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        #expect(await code { try await server.credentials(of: name) } == .notPermitted)
    }
}
