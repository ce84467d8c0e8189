import BusSupport
import CaptureBus
import CaptureCore
import Glibc
import Testing

@testable import Authorization
@testable import CaptureEngine
@testable import CaptureService

/// A daemon's announcements on a bus, and connections that would hear them.
private final class Hall: Sendable {
    let bus: PrivateBus
    let daemon: BusConnection
    let listeners = Listeners()
    let objects: SessionObjects
    let callers: CallerDirectory

    init() async throws {
        bus = try PrivateBus()
        daemon = try await BusConnection.open(bus.kind)
        let listeners = listeners
        callers = CallerDirectory(bus: daemon, root: SystemRoot(ofProcessOne: false)) { listeners.remove($0) }
        objects = SessionObjects(bus: daemon, callers: callers, listeners: listeners, doors: .ofTests)
    }

    /// Announces a whole session, and an answer, and then that all is said, to everybody.
    ///
    /// - Parameter asker: The connection that asked for what was saved of it into the media library.
    func announce(_ session: SessionSnapshot, savedFor asker: String? = nil) async throws {
        let announcer = Announcer(listeners)
        announcer.sessionAdded(session)
        var running = session
        running.state = .running
        announcer.sessionChanged(running)
        announcer.bufferMoved(session, output: "pictures")
        if let asker { announcer.outputSaved(session, output: "movie", SavedOutput(asset: "a"), to: asker) }
        announcer.outputFinished(session, output: "movie", error: nil, statistics: OutputStatistics())
        announcer.sessionRemoved(session.id)
        announcer.decided(
            Decision(
                program: session.program,
                tier: .sandboxed,
                user: session.user,
                pid: 1,
                identity: "a test",
                service: .camera,
                status: .denied,
                cause: .answer,
                message: "a test"
            )
        )
        announcer.finish()
        await announcer.run(objects, bus: daemon)
        try daemon.emit(CaptureNames.root, CaptureNames.manager, "DeviceRemoved", signature: "s", [.string("end")])
    }
}

/// A connection that matches everything that the daemon says.
private final class Ear: Sendable {
    let connection: BusConnection
    private let subscription: BusSubscription
    private let signals: AsyncStream<BusSignal>

    init(in hall: Hall) async throws {
        connection = try await BusConnection.open(hall.bus.kind)
        let (signals, feed) = AsyncStream<BusSignal>.makeStream()
        self.signals = signals
        subscription = try await connection.subscribe(BusMatch(sender: hall.daemon.uniqueName)) { feed.yield($0) }
    }

    /// What it heard before all was said.
    func heard() async -> [String] {
        var members: [String] = []
        for await signal in signals {
            if signal.member == "DeviceRemoved" { break }
            members.append(signal.member)
        }
        return members
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `Signals about sessions and answers` {
    private static let session = [
        "SessionAdded", "PropertiesChanged", "BufferMoved", "OutputFinished", "SessionRemoved",
    ]

    private func session(of program: String, user: UInt32, by connection: String = ":1.9999") -> SessionSnapshot {
        SessionSnapshot(
            id: 5,
            state: .configured,
            program: program,
            user: user,
            connection: connection,
            description: SessionDescription(inputs: [], outputs: [], connections: [])
        )
    }

    private func identity(_ program: String, _ tier: Tier = .claimed, user: UInt32) -> ClientIdentity {
        ClientIdentity(program: program, tier: tier, user: user, name: program, detail: "a test")
    }

    @Test func `go to their user and root, to a sandbox its own, and to nobody else who listens`() async throws {
        let hall = try await Hall()
        var ears: [String: Ear] = [:]
        let people: [(String, ClientIdentity?)] = [
            ("own", identity("exe:/own", user: 1000)), ("root", identity("exe:/root", user: 0)),
            ("other user", identity("exe:/own", user: 1001)), ("silent", nil),
            ("same sandbox", identity("flatpak:org.example.A", .sandboxed, user: 1000)),
            ("other sandbox", identity("flatpak:org.example.B", .sandboxed, user: 1000)),
            ("other's same sandbox", identity("flatpak:org.example.A", .sandboxed, user: 1001)),
        ]
        for (name, identity) in people {
            let ear = try await Ear(in: hall)
            ears[name] = ear
            if let identity { try hall.listeners.add(identity, connection: ear.connection.uniqueName) }
        }
        try await hall.announce(session(of: "flatpak:org.example.A", user: 1000))
        for (name, ear) in ears {
            let isTold = ["own", "root", "same sandbox"].contains(name)
            #expect(await ear.heard() == (isTold ? Self.session + ["Changed"] : []), "\(name)")
        }
    }

    @Test func `of a session go to who made it unasked, and each once`() async throws {
        let hall = try await Hall()
        let maker = try await Ear(in: hall)
        let both = try await Ear(in: hall)
        try hall.listeners.add(identity("exe:/a", user: 1000), connection: both.connection.uniqueName)
        try await hall.announce(session(of: "exe:/a", user: 1000, by: maker.connection.uniqueName))
        #expect(await maker.heard() == Self.session)
        #expect(await both.heard() == Self.session + ["Changed"])
        try await hall.announce(session(of: "exe:/a", user: 1000, by: both.connection.uniqueName))
        #expect(await both.heard() == Self.session + ["Changed"])
    }

    @Test func `of what was saved go to who asked for it alone`() async throws {
        let hall = try await Hall()
        let asker = try await Ear(in: hall)
        let own = try await Ear(in: hall)
        try hall.listeners.add(identity("exe:/a", user: 1000), connection: own.connection.uniqueName)
        try await hall.announce(session(of: "exe:/a", user: 1000), savedFor: asker.connection.uniqueName)
        #expect(await asker.heard() == ["OutputSaved"])
        #expect(await own.heard() == Self.session + ["Changed"])
    }

    @Test func `about the machine's programs go to everybody who is shown their answers`() throws {
        let listeners = Listeners()
        try listeners.add(identity("exe:/a", user: 1000), connection: ":1.1")
        try listeners.add(identity("flatpak:org.example.A", .sandboxed, user: 1000), connection: ":1.2")
        try listeners.add(identity("exe:/a", user: 0), connection: ":1.3")
        #expect(listeners.hear(answerOf: 0, to: "unit:door.service") == [":1.1", ":1.3"])
        #expect(listeners.hear(answerOf: 0, to: "exe:/a") == [":1.3"])
        // What it captures is its own user's and root's all the same.
        #expect(listeners.hear(session(of: "unit:door.service", user: 997)) == [":1.3", ":1.9999"])
    }

    @Test func `go to no more connections of a user than a bounded number, whatever others do`() throws {
        let listeners = Listeners()
        for number in 0..<Listeners.mostOfUser {
            try listeners.add(identity("exe:/a", user: 1000), connection: ":1.\(number)")
        }
        #expect(code { try listeners.add(identity("exe:/a", user: 1000), connection: ":2.1") } == .busy)
        try listeners.add(identity("exe:/a", user: 1000), connection: ":1.0")
        try listeners.add(identity("exe:/a", user: 1001), connection: ":2.1")
        listeners.remove(":1.7")
        try listeners.add(identity("exe:/a", user: 1000), connection: ":2.2")
    }
    @Test func `go to a connection from its call to Subscribe until it leaves`() async throws {
        let hall = try await Hall()
        let (listeners, callers) = (hall.listeners, hall.callers)
        let manager = BusInterface(CaptureNames.manager, methods: [BusMethod("Subscribe")])
        let subscribe: BusHandler = { call throws(CaptureError) in
            try await listeners.subscribe(call.sender, known: callers)
            return []
        }
        let object = try BusObject(
            path: CaptureNames.root,
            [BusImplementation(manager, methods: ["Subscribe": subscribe])]
        )
        try await hall.daemon.export(object)
        let (told, silent) = (try await Ear(in: hall), try await Ear(in: hall))
        _ = try await told.connection.call(hall.daemon.uniqueName, CaptureNames.root, manager.name, "Subscribe")
        try await hall.announce(session(of: "exe:/a", user: getuid()))
        #expect(await told.heard() == Self.session + ["Changed"])
        #expect(await silent.heard() == [])
        let name = told.connection.uniqueName
        #expect(listeners.hear(answerOf: getuid(), to: "exe:/a") == [name])
        await told.connection.close()
        try await until { !listeners.hear(answerOf: getuid(), to: "exe:/a").contains(name) }
    }
}
