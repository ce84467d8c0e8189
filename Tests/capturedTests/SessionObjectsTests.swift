import BusSupport
import CaptureBus
import CaptureCore
import Glibc
import Testing

@testable import CaptureEngine
@testable import captured

@Suite(.timeLimit(.minutes(10)))
struct `A session on the bus` {
    private func session(_ id: UInt32, user: UInt32) -> SessionSnapshot {
        SessionSnapshot(
            id: id,
            state: .running,
            program: "exe:/a",
            user: user,
            connection: ":1.1",
            description: SessionDescription(inputs: [], outputs: [], connections: [])
        )
    }

    @Test func `is read by its user and root, and is not there for others`() {
        let readers = SessionObjects.readers(of: session(3, user: 1000))
        #expect(readers.users == [0, 1000])
        #expect(readers.refusal == CaptureError(.noSuchSession, "there is no session 3"))
    }

    @Test func `of one's own is read, another's is not unless one is root`() async throws {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        let callers = CallerDirectory(bus: daemon, root: SystemRoot(ofProcessOne: false)) { _ in }
        let sessions = SessionObjects(bus: daemon, callers: callers, listeners: Listeners())
        try await sessions.publish(session(1, user: getuid()))
        try await sessions.publish(session(2, user: getuid() + 1))
        func program(of id: UInt32) async throws(CaptureError) -> BusValue? {
            try await client.call(
                daemon.uniqueName,
                SessionObjects.path(id),
                CaptureNames.properties,
                "Get",
                signature: "ss",
                [.string(CaptureNames.session), .string("Program")]
            ).first
        }
        #expect(try await program(of: 1) == .variant(.string("exe:/a")))
        if getuid() == 0 {
            #expect(try await program(of: 2) == .variant(.string("exe:/a")))
        } else {
            let error = await #expect(throws: CaptureError.self) { try await program(of: 2) }
            #expect(error?.code == .noSuchSession)
        }
    }
}
