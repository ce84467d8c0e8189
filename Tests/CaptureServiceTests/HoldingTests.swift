import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `Who has a connection` {
    /// Whether who connected may be served once it runs `program`, which `after` turns it into.
    private func look(_ after: String = "sys.stdin.read()", at program: String) async throws -> CaptureError? {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let caller = try await PythonCaller(bus, seenBy: server, then: after)
        var facts: PeerFacts?
        while facts?.executable.path.contains(program) != true {
            await Task.yield()
            // While it changes it may be neither.
            facts = try? await server.credentials(of: caller.name)
        }
        let found = try #require(facts)
        var refusal: CaptureError?
        do throws(CaptureError) { try await server.checkHolding(of: found) } catch { refusal = error }
        try await caller.end()
        return refusal
    }

    @Test func `its own process has it`() async throws {
        #expect(try await look(at: "python") == nil)
    }

    @Test func `a child that runs the same is nobody else`() async throws {
        let after = """
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            sys.stdin.read(); os.wait()
            """
        #expect(try await look(after, at: "python") == nil)
    }

    @Test func `who left it to another process and runs an allowed program is refused`() async throws {
        // The child has the socket; what the parent becomes has not.
        let after = """
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            os.execv("/bin/cat", ["cat"])
            """
        let refusal = try await look(after, at: "/cat")
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("opened more bus connections (1) than it holds (0)") == true)
    }

    @Test(.enabled(if: canListSockets)) func `who shares it with a program of another file is refused`() async throws {
        let after = """
            inherit()
            if os.fork() == 0:
                sys.stdin.read(); os._exit(0)
            os.execv("/bin/cat", ["cat"])
            """
        let refusal = try await look(after, at: "/cat")
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("has its connection, too") == true)
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
        let refusal = try await look(after, at: "/cat")
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("has its connection, too") == true)
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
