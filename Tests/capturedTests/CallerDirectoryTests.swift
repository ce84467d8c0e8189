import Authorization
import BusSupport
import CaptureCore
import CaptureEngine
import CaptureSystem
import Foundation
import Testing

@testable import CaptureBus
@testable import captured

@Suite(.timeLimit(.minutes(10)))
struct `A caller` {
    @Test(.enabled(if: canListSockets))
    func `whose connection another got after its first call is refused at a start`() async throws {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        let callers = CallerDirectory(
            bus: daemon,
            root: SystemRoot(ofProcessOne: false),
            checksHolding: { _ in true }
        ) { _ in }
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
        other.waitUntilExit()
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("has its connection, too") == true)
        // It is the same program all the same, and alone again now.
        _ = try await caller.identifyAgain()
        _ = try await caller.identifyAtStart()
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

/// Whether this kernel has the list (CONFIG_UNIX_DIAG).
private let canListSockets = (try? BusSockets.clients(beside: 0)) != nil
