import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Glibc
import Testing

@testable import CaptureEngine
@testable import CaptureService

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

    private func reader(_ program: String, _ tier: Tier, user: UInt32) -> ClientIdentity {
        ClientIdentity(program: program, tier: tier, user: user, name: "a", detail: "a test", pid: 10)
    }

    @Test func `is shown without what its assets will be called`() {
        var description = SessionDescription(inputs: [], outputs: [], connections: [])
        description.outputs = [
            OutputDescription(
                name: "movie",
                kind: .movie,
                format: "mkv",
                library: LibraryDestination(name: "a.mkv", album: "Trip")
            ), OutputDescription(name: "photo", kind: .photo, format: "jpeg"),
        ]
        #expect(description.shown.outputs.map(\.library) == [LibraryDestination(), nil])
    }

    @Test func `is read by its user and root, in a sandbox by its own program alone, and is not there for others`()
        async throws
    {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        var sandboxed = session(4, user: 1000)
        sandboxed.program = "flatpak:org.b"
        let cases: [(SessionSnapshot, ClientIdentity, Bool)] = [
            (session(3, user: 1000), reader("exe:/b", .claimed, user: 1000), true),
            (session(3, user: 1000), reader("exe:/a", .claimed, user: 1001), false),
            (session(3, user: 1000), reader("exe:/b", .claimed, user: 0), true),
            (session(3, user: 1000), reader("flatpak:org.b", .sandboxed, user: 1000), false),
            (sandboxed, reader("flatpak:org.b", .sandboxed, user: 1000), true),
            (sandboxed, reader("flatpak:org.c", .sandboxed, user: 1000), false),
            (sandboxed, reader("flatpak:org.b", .sandboxed, user: 1001), false),
        ]
        let interface = BusInterface(
            CaptureNames.session,
            methods: [],
            properties: [BusProperty("Program", "s")],
            signals: []
        )
        for (number, (session, reader, isShown)) in cases.enumerated() {
            let path = "/case\(number)"
            let properties = BusImplementation(interface, properties: ["Program": .string(session.program)])
            let readers = SessionObjects.readers(of: session) { _ in reader }
            try await daemon.export(try BusObject(path: path, [properties], readers: readers))
            for (member, arguments) in [("Get", ["Program"]), ("GetAll", [])] {
                func read() async throws(CaptureError) -> [BusValue] {
                    try await client.call(
                        daemon.uniqueName,
                        path,
                        CaptureNames.properties,
                        member,
                        signature: arguments.isEmpty ? "s" : "ss",
                        [.string(CaptureNames.session)] + arguments.map { .string($0) }
                    )
                }
                if isShown {
                    #expect(try await read().count == 1)
                } else {
                    let absent = CaptureError(.noSuchSession, "there is no session \(session.id)")
                    await #expect(throws: absent) { try await read() }
                }
            }
        }
    }

    @Test func `of one's own is read, another's is not unless one is root`() async throws {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        let callers = CallerDirectory(bus: daemon, root: SystemRoot(ofProcessOne: false)) { _ in }
        let sessions = SessionObjects(bus: daemon, callers: callers, listeners: Listeners(), doors: .ofTests)
        try await sessions.publish(session(1, user: getuid()))
        try await sessions.publish(session(2, user: getuid() + 1))
        func program(of id: UInt32) async throws(CaptureError) -> BusValue? {
            try await client.call(
                daemon.uniqueName,
                CaptureNames.sessionPath(id),
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
            #expect(await code { try await program(of: 2) } == .noSuchSession)
        }
    }
}
