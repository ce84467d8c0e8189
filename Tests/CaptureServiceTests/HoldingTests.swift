import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import Testing

@testable import CaptureService

/// A connection that python makes, whose process then runs another program; `after` is what it does before that.
private final class Maker {
    let process = Process()
    private let input = Pipe()

    init(_ bus: PrivateBus, after: String) throws {
        let script = """
            import dbus, os, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            bus.send_message(dbus.lowlevel.SignalMessage("/a", "\(testInterface)", "Happened"))
            bus.flush()
            def inherit():
                for n in os.listdir("/proc/self/fd"):
                    try:
                        if os.readlink("/proc/self/fd/" + n).startswith("socket:"): os.set_inheritable(int(n), True)
                    except OSError:
                        pass
            \(after)
            """
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, bus.address]
        process.standardInput = input
        try process.run()
    }

    func end() async throws {
        try input.fileHandleForWriting.close()
        await process.ended()
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `Who has a connection` {
    /// Whom the server sees behind what python connected, once it runs `program`.
    private func look(_ after: String, at program: String, _ body: (BusConnection, PeerFacts) async throws -> Void)
        async throws
    {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let seen = Collector<String>()
        let subscription = try await server.subscribe(BusMatch(interface: testInterface, member: "Happened")) {
            seen.add($0.sender)
        }
        let maker = try Maker(bus, after: after)
        let name = try #require(await seen.next().first)
        var facts: PeerFacts?
        while facts?.executable.path.contains(program) != true {
            await Task.yield()
            // While it changes it may be neither.
            facts = try? await server.credentials(of: name)
        }
        try await body(server, try #require(facts))
        subscription.cancel()
        try await maker.end()
    }

    @Test func `its own process has it`() async throws {
        try await look("sys.stdin.read()", at: "python") { server, facts in
            try await server.checkHolding(of: facts)
        }
    }

    @Test func `a child that runs the same is nobody else`() async throws {
        let after = """
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            sys.stdin.read(); os.wait()
            """
        try await look(after, at: "python") { server, facts in
            try await server.checkHolding(of: facts)
        }
    }

    @Test func `who left it to another process and runs an allowed program is refused`() async throws {
        // The child has the socket; what the parent becomes has not.
        let after = """
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            os.execv("/bin/cat", ["cat"])
            """
        try await look(after, at: "/cat") { server, facts in
            let refusal = await #expect(throws: CaptureError.self) { try await server.checkHolding(of: facts) }
            #expect(refusal?.code == .notPermitted)
            #expect(refusal?.message.contains("opened more bus connections (1) than it holds (0)") == true)
        }
    }

    @Test(.enabled(if: canListSockets)) func `who shares it with a program of another file is refused`() async throws {
        let after = """
            inherit()
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            os.execv("/bin/cat", ["cat"])
            """
        try await look(after, at: "/cat") { server, facts in
            let refusal = await #expect(throws: CaptureError.self) { try await server.checkHolding(of: facts) }
            #expect(refusal?.code == .notPermitted)
            #expect(refusal?.message.contains("has its connection, too") == true)
        }
    }

    @Test(.enabled(if: canListSockets)) func `who keeps it in a thread with descriptors of its own has it, too`()
        async throws
    {
        // The first thread, whose descriptors /proc/PID/fd has, closes it.
        let after = """
            inherit()
            ready, told = os.pipe()
            if os.fork() == 0:
                import ctypes, threading
                kept = threading.Event()
                def keep():
                    if ctypes.CDLL(None).unshare(0x400) != 0: os._exit(1)
                    kept.set(); sys.stdin.read(); os._exit(0)
                threading.Thread(target=keep).start()
                kept.wait()
                for n in os.listdir("/proc/self/fd"):
                    try:
                        if os.readlink("/proc/self/fd/" + n).startswith("socket:"): os.close(int(n))
                    except OSError:
                        pass
                os.write(told, b"1")
                threading.Event().wait()
            os.close(told)
            if os.read(ready, 1) != b"1": os._exit(1)
            os.execv("/bin/cat", ["cat"])
            """
        try await look(after, at: "/cat") { server, facts in
            let refusal = await #expect(throws: CaptureError.self) { try await server.checkHolding(of: facts) }
            #expect(refusal?.code == .notPermitted)
            #expect(refusal?.message.contains("has its connection, too") == true)
        }
    }

    @Test func `where sockets are not listed, streams without a name that are connected are counted`() {
        let table = """
            Num       RefCount Protocol Flags    Type St Inode Path
            0000000000000000: 00000003 00000000 00000000 0001 03 11
            0000000000000000: 00000003 00000000 00000000 0001 03 12 /run/dbus/system_bus_socket
            0000000000000000: 00000002 00000000 00010000 0001 01 13
            0000000000000000: 00000003 00000000 00000000 0002 03 14
            0000000000000000: 00000003 00000000 00000000 0001 03 15
            """
        #expect(BusSockets.connected([11, 12, 13, 14], in: table) == [11])
        #expect(Files.socketInode(ofLink: "socket:[4711]") == 4711)
        #expect(Files.socketInode(ofLink: "pipe:[4711]") == nil)
    }
}

/// Whether this kernel has the list (CONFIG_UNIX_DIAG).
private let canListSockets = (try? BusSockets.clients(beside: 0)) != nil

@Suite struct `What a process has of the bus` {
    private func makers(_ list: [(Int32, UInt32)]) -> [ConnectionMaker] {
        list.map { ConnectionMaker(process: $0.0, user: $0.1) }
    }

    @Test func `is in order when each connection of its user is somebody's who made it`() {
        let holding = Holding(own: [1], all: [1: 1000, 2: 1000, 3: 1001])
        #expect(holding.doubt(makers([(7, 1000), (8, 1000), (9, 1001)]), process: 7, user: 1000) == nil)
    }

    @Test func `is less than it made when its number was another's`() {
        let holding = Holding(own: [2], all: [1: 1000, 2: 1000])
        let doubt = holding.doubt(makers([(7, 1000), (7, 1000)]), process: 7, user: 1000)
        #expect(doubt?.contains("opened more bus connections (2) than it holds (1)") == true)
    }

    @Test func `is not made up for by a socket that has not greeted the bus`() {
        // 1 was made by it and is another's now; 2 has no name.
        let holding = Holding(own: [2], all: [1: 1000, 2: 1000])
        let doubt = holding.doubt(makers([(7, 1000)]), process: 7, user: 1000)
        #expect(doubt?.contains("another process may have its connection") == true)
    }

    @Test func `is no matter of other users`() {
        let holding = Holding(own: [1], all: [1: 1000, 2: 1001, 3: 1001])
        #expect(holding.doubt(makers([(7, 1000)]), process: 7, user: 1000) == nil)
    }

    @Test func `is only counted where the kernel does not list sockets`() {
        #expect(Holding(own: [1], all: nil).doubt(makers([(7, 1000)]), process: 7, user: 1000) == nil)
        #expect(Holding(own: [], all: nil).doubt(makers([(7, 1000)]), process: 7, user: 1000) != nil)
    }
}
