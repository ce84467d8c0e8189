import Authorization
import BusSupport
import CaptureCore
import CaptureEngine
import CaptureSystem
import Foundation
import Testing

@testable import CaptureBus
@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `A caller` {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    private func callers(_ daemon: BusConnection, checksHolding: Bool = false) -> CallerDirectory {
        CallerDirectory(
            bus: daemon,
            root: SystemRoot(ofProcessOne: false),
            checksHolding: { _ in checksHolding }
        ) { _ in }
    }

    @Test(.enabled(if: canListSockets))
    func `whose connection another got after its first call is refused at a start`() async throws {
        let client = try await bus.connect()
        let callers = callers(try await bus.connect(), checksHolding: true)
        let caller = try await callers.client(client.uniqueName)
        _ = try await caller.identifyAtStart()

        let link = "socket:[\(try await client.socketInode())]"
        let path = try #require(DescriptorTables.links(of: getpid()).first { Files.link(at: $0) == link })
        let number = try #require(Int32(path.split(separator: "/").last ?? ""))
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/bin/sleep")
        other.arguments = ["600"]
        other.standardInput = FileHandle(fileDescriptor: number, closeOnDealloc: false)
        try other.run()
        let refusal = await #expect(throws: CaptureError.self) { _ = try await caller.identifyAtStart() }
        // By SIGKILL: a test's thread may have the others blocked, and so has what it starts.
        kill(other.processIdentifier, SIGKILL)
        await other.ended()
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("has its connection, too") == true)
        // It is the same program all the same, and alone again now.
        _ = try await caller.identifyAgain()
        _ = try await caller.identifyAtStart()
    }

    @Test(.enabled(if: !isSystemService))
    func `whose file is changed after its first call is refused, and told to start again`() async throws {
        let daemon = try await bus.connect()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.resolvingSymlinksInPath().path + "/tool"
        let python = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
        // By another process: what tests beside this one start would hold a descriptor of ours that writes to it, and a
        // file that is written to is busy.
        let copying = try Process.run(URL(fileURLWithPath: "/bin/cp"), arguments: [python, file])
        await copying.ended()
        try #require(copying.terminationStatus == 0)
        let tool = try await PythonCaller(bus, seenBy: daemon, command: [file])
        let callers = callers(daemon)
        let first = try await callers.client(tool.name).identity
        #expect(first.executable?.changed != nil)
        #expect(try await callers.client(tool.name).identity == first)
        #expect(callers.unchanged(tool.name) == first)
        #expect(unsafe chmod(file, 0o711) == 0)
        // A look counts for some milliseconds.
        try await until { callers.unchanged(tool.name) == nil }
        let refusal = await #expect(throws: CaptureError.self) { _ = try await callers.client(tool.name) }
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("was changed since its first call; start it again") == true)
        try await tool.end()
    }

    @Test func `who only looks is known without the bus, once it was identified`() async throws {
        let client = try await bus.connect()
        let callers = callers(try await bus.connect())
        let first = try await callers.client(client.uniqueName).identity
        // It answers nobody any more.
        bus.stop()
        #expect(try await callers.reader(client.uniqueName).identity == first)
        bus.end()
    }

    @Test func `is looked at for that when it is a program of people's own, root excepted`() {
        func identity(_ tier: Tier, user: UInt32) -> ClientIdentity {
            ClientIdentity(program: "exe:/a", tier: tier, user: user, name: "a", detail: "a test")
        }
        #expect(CallerDirectory.isClaim(identity(.claimed, user: 1000)))
        #expect(!CallerDirectory.isClaim(identity(.claimed, user: 0)))
        #expect(!CallerDirectory.isClaim(identity(.sandboxed, user: 1000)))
    }
}

/// Whether the tests run in a service of the system, whose programs are known by its name.
private let isSystemService =
    Files.text(of: "/proc/self/cgroup", limit: 65536)
    .map { $0.contains(".service") && !$0.contains("user@") } ?? false
