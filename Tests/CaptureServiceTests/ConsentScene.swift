import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Foundation
import MediaLibrary
import Synchronization
import TestSupport

@testable import CaptureService

/// A daemon's part in consent, wired as `Daemon` wires it, over devices that are none: on a bus of the test's own, its
/// answers in a folder. Thread-safe.
final class ConsentScene: Sendable {
    let gate: AuthorizationGate
    let history: HistoryKeeper
    /// The users' libraries, below the folder of the answers.
    let libraries: LibraryCatalog
    private let library: LibraryParts
    private let agents: AgentRegistry
    /// What passes for the command line, and the same where it is an empty file of its own.
    private let shipped: String
    private let standIn: String?
    private let callers: CallerDirectory
    private let connection: BusConnection
    private let root: RootObject
    private let questions: AccessQuestions

    init(
        on bus: PrivateBus,
        state: String,
        switches: SwitchFile? = nil,
        usage: any UsageDescriptions = FixedUsageDescriptions("to see you"),
        commandLine program: String? = nil,
        promptTimeout: Duration = .seconds(600),
        limits: LibraryLimits = LibraryLimits(),
        turns: LibraryTurns = LibraryTurns()
    ) async throws {
        let connection = try await BusConnection.open(bus.kind)
        let path = program ?? NSTemporaryDirectory() + "capturectl-\(UUID().uuidString)"
        if program == nil { try Data().write(to: URL(fileURLWithPath: path)) }
        standIn = program == nil ? path : nil
        let commandLine = ShippedProgram(path: path, root: SystemRoot(ofProcessOne: false))
        // Whatever the test runs as, its user is the one who is asked.
        let stated = StatedReasons()
        let agents = AgentRegistry(bus: connection, commandLine: commandLine, logins: .ofSessionBus, stated: stated)
        let history = HistoryKeeper(HistoryStore(directory: state))
        let gate = AuthorizationGate(
            store: AuthorizationStore(directory: state),
            usage: usage,
            prompter: agents,
            switches: switches,
            promptTimeout: promptTimeout,
            decisions: history.note
        )
        let engine = CaptureEngine(
            devices: FakeMachine(),
            rings: FakeRings(),
            recorders: FakeRecorders(),
            gate: gate,
            observer: StateWatch(),
            history: history
        )
        let questions = AccessQuestions(bus: connection, gate: gate)
        let libraries = LibraryCatalog(directory: state + "/library", limits: limits)
        let library = LibraryParts(
            libraries,
            bus: connection,
            gate: gate,
            questions: questions,
            history: history,
            importers: Importers(origin: TestPrograms.recorder),
            turns: turns
        )
        let callers = CallerDirectory(bus: connection, root: SystemRoot(ofProcessOne: false)) { connection in
            await questions.requests.clientGone(connection)
            await library.clientGone(connection)
            await engine.clientGone(connection)
            stated.clientGone(connection)
            await agents.unregister(connection)
        }
        let settings = SettingsGuard(
            bus: connection,
            kind: bus.kind,
            commandLine: path,
            logins: .ofSessionBus
        )
        await library.follow()
        let doors = PassingDoors.ofTests
        let libraryObject = library.object(
            callers: callers,
            doors: doors,
            settings: settings,
            commandLine: commandLine
        )
        let root = RootObject()
        let authorization = AuthorizationObject(
            bus: connection,
            gate: gate,
            engine: engine,
            callers: callers,
            agents: agents,
            questions: questions,
            stated: stated,
            picking: PickingDesk(
                agents: agents,
                libraries: libraries,
                pictures: library.pictures,
                taken: library.taken
            ),
            librarySettings: library.settings,
            commandLine: commandLine,
            settings: settings,
            history: HistoryPages(keeper: history, commandLine: commandLine),
            listeners: Listeners(),
            showSwitches: { switches throws(CaptureError) in try root.show(switches, on: connection) }
        )
        let object = try BusObject(
            path: CaptureNames.root,
            [
                authorization.implementation(Switches()), libraryObject.implementation,
                doors.implementation(for: callers),
            ]
        )
        root.value.withLock { $0 = object }
        try await connection.export(object)
        // The bus may still have to notice that the scene before this one left.
        let (left, leaving) = AsyncStream<Void>.makeStream()
        let watch = try await connection.whenNameVanishes(CaptureNames.service) { leaving.yield() }
        for await _ in left { break }
        watch.cancel()
        try await connection.requestName(CaptureNames.service)
        self.gate = gate
        shipped = path
        self.history = history
        self.libraries = libraries
        self.library = library
        self.agents = agents
        self.callers = callers
        self.connection = connection
        self.root = root
        self.questions = questions
    }

    deinit {
        if let standIn { try? FileManager.default.removeItem(atPath: standIn) }
        // A daemon's parts know each other for as long as it runs; these are to end, and to close their files, with the test.
        root.value.withLock { $0 = nil }
        Task { [connection, questions, gate] in
            await connection.close()
            questions.whenLimited { _ in }
            await gate.beforeLimiting { _, _ in }
        }
    }

    /// Ends what is under way, as a daemon does before it leaves the bus.
    func endRequests() async {
        await questions.requests.shutDown()
        await library.requests.shutDown()
    }

    /// Leaves the bus, as a daemon does that is stopped; whoever comes next finds what is on disk.
    func stop() async {
        await connection.close()
        await libraries.close()
    }

    /// The user's library was changed past the bus: returns when everybody was told whom that concerns.
    func changed() async {
        await library.watchers.changed(getuid())
        await library.watchers.settled(getuid())
    }

    /// Has an agent asked from now on. The daemon knows its connection by a call, and so hears when it goes.
    ///
    /// - Parameter isShipped: Whether it passes for the command line that ships with the daemon.
    func agent(
        on bus: PrivateBus,
        picks: Bool = true,
        holds: Bool = false,
        isShipped: Bool = true
    ) async throws -> CountingAgent {
        let agent = try await CountingAgent(on: bus, picks: picks, holds: holds)
        try await agent.call("WhoAmI")
        // It is the test's own process, as the asking program is, and has to pass for another of the same session.
        var panel = try await callers.client(agent.connection.uniqueName).identity
        panel.program = "exe:/usr/bin/panel"
        // The library is shown by the shipped command line alone.
        panel.executable = isShipped ? ExecutableFile.inspect(shipped) : nil
        panel.pid = 1
        try await agents.register(
            panel,
            connection: agent.connection.uniqueName,
            path: CountingAgent.path,
            isInline: false
        )
        return agent
    }
}
