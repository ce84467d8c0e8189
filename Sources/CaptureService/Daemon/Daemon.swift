import Authorization
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureSystem
import Glibc
import Logging
import MediaLibrary
import Synchronization

/// Wires devices, engine, consent and bus, and lives until a signal.
public enum Daemon {
    /// Serves until a signal ends it.
    ///
    /// - Returns: The exit code, after sysexits(3). The journal has the reason for one that is not 0.
    public static func run(_ options: DaemonOptions) async -> Int32 {
        let levels = LogLevels.ofEnvironment
        LoggingSystem.bootstrap { JournalLog(label: $0, logLevel: levels.level(of: $0)) }
        for problem in levels.problems { Journal.send(problem, priority: .warning) }
        do throws(CaptureError) {
            try await serve(options)
            return 0
        } catch {
            Journal.send("captured cannot run: \(error)", priority: .critical)
            return error.code.exitCode
        }
    }

    private static func serve(_ options: DaemonOptions) async throws(CaptureError) {
        let signals = try TerminationSignals()
        let places = Places(options)
        let configuration = places.readConfiguration()
        for problem in configuration.problems { Journal.send("\(problem)", priority: .warning) }
        let policy = places.readPolicy()
        SessionJournal.record(policy)

        let bus = try await BusConnection.open(options.bus)
        // Before a device is probed; two that start at one time are told apart when the name is taken, at the end.
        guard try await bus.owner(of: CaptureNames.service) == nil else { throw Daemon.second }
        bus.onDisconnect { error in signals.raise(.lostBus(error)) }
        // Questions about callers have their own connection, so that they don't wait behind the callers' calls: the bus
        // delivers in order.
        let asking = try await BusConnection.open(options.bus)
        asking.onDisconnect { error in signals.raise(.lostBus(error)) }

        let store = AuthorizationStore(directory: places.state)
        let past = HistoryStore(directory: places.state)
        for case .unusable(let why) in [store.state, past.state] {
            Journal.send("every start is refused: \(why)", priority: .error)
        }
        let listeners = Listeners()
        let live = LiveUses(linger: configuration.indicator.linger) { use in
            Journal.attempt("announce a use") { () throws(CaptureError) in try listeners.tell(bus, of: use) }
        }
        let history = HistoryKeeper(
            past,
            executor: try thread("history"),
            limits: configuration.history.limits,
            complain: { Journal.send($0, priority: .error) },
            watch: live.follow
        )
        let rest = MemoryRest()
        let heartbeat = Heartbeat(rest: rest)
        let synthetic = try makeSynthetic(options, configuration.synthetic, heartbeat.proof)
        let changes = AsyncStream<DeviceChange>.makeStream()
        let profiles = DeviceProfiles(ProfileFile(directory: places.state))
        let monitor = try DeviceMonitor(probers: [V4L2.prober(), ALSA.prober()]) { change in
            // At once: it may be back, and opened, before the others hear of it.
            if case .removed(let device) = change { profiles.deviceGone(device) }
            changes.continuation.yield(change)
        }
        let vendors = VendorControls()
        let devices = MachineDevices(
            monitor: monitor,
            synthetic: synthetic,
            heartbeat: heartbeat,
            vendors: vendors,
            profiles: profiles
        )
        let commandLine = ShippedProgram(path: places.commandLine, root: places.root)
        let people: LoginSessions = options.isSystem ? .system : .ofSessionBus
        let refusals = RefusalJournal()
        let stated = StatedReasons()
        let agents = AgentRegistry(
            bus: bus,
            commandLine: commandLine,
            refusals: refusals,
            logins: people,
            stated: stated
        )
        let announcer = Announcer(listeners, refusals: refusals)
        let gate = AuthorizationGate(
            executor: try thread("gate"),
            aside: aside,
            store: store,
            usage: places.usageDescriptions { people.active()?.user },
            prompter: agents,
            root: places.root.prefix,
            policy: policy,
            switches: SwitchFile(directory: places.state),
            promptTimeout: configuration.consent.promptTimeout,
            decisions: { decision in
                announcer.decided(decision)
                history.note(decision)
            }
        )
        let questions = AccessQuestions(bus: bus, gate: gate)
        let libraries = LibraryCatalog(directory: places.libraries, limits: LibraryLimits(configuration.library))
        let library = LibraryParts(
            libraries,
            bus: bus,
            gate: gate,
            questions: questions,
            history: history,
            importers: Importers(origin: places.recorder(configuration))
        )
        let recorders = Recorders(origin: places.recorder(configuration))
        let engine = CaptureEngine(
            devices: devices,
            rings: SharedRings(),
            recorders: recorders,
            gate: gate,
            observer: announcer,
            history: history,
            saver: library.saver
        )
        let settingsDesk = SettingsDesk(devices: devices, gate: gate) {
            await engine.giveBack($0)
        } tell: { device, news, connection in
            DeviceObjects.tell(bus, of: device, news, to: connection)
        }
        // Programs get no answers over this connection: the bus stops reading from one whose answers are not read.
        heartbeat.serve(Heartbeat.Rounds(asking, gate, engine, heartbeat.proof))
        let logins = LoginWatch(
            bus: asking,
            isSystem: options.isSystem,
            sessions: people,
            gate: gate,
            looked: { await engine.resume() }
        )
        let doors = PassingDoors(program: places.door)
        let settings = SettingsGuard(bus: asking, kind: options.bus, commandLine: places.commandLine, logins: people)
        let bridged = BridgedPrograms(
            identification: Identification(bus: asking, root: places.root),
            program: ShippedProgram(path: places.pipewire, root: places.root),
            isSystem: options.isSystem,
            stated: stated,
            history: history,
            refusals: refusals
        )
        let callers = CallerDirectory(
            bus: asking,
            root: places.root,
            refusals: refusals,
            present: { await gate.connected($0, revision: $1) }
        ) { connection in
            listeners.remove(connection)
            // Its agent last: that it leaves is no reason for questions that it was to answer for itself.
            await questions.requests.clientGone(connection)
            await doors.clientGone(connection)
            await library.clientGone(connection)
            await engine.clientGone(connection)
            await bridged.clientGone(connection)
            await settingsDesk.clientGone(connection)
            stated.clientGone(connection)
            await agents.unregister(connection)
            rest.plan()
        }
        await bridged.serve {
            await callers.setBridged($0)
        } gone: {
            await engine.processGone($0, on: $1)
        }
        bus.onFailure { call, error in
            var client = await callers.identity(of: call.sender)
            // Of these nobody has looked who sends them. Whoever cannot be identified is told of by who could not.
            if client == nil, error == BusErrors.tooMuch || error == BusErrors.tooMany {
                client = try? await callers.client(call.sender).identity
            }
            if let client { refusals.tell(call, error, of: client) }
        }
        let sessions = SessionObjects(bus: bus, callers: callers, listeners: listeners, doors: doors)
        await sessions.serve(engine, cameras: CameraLoans(settingsDesk, gate: gate))
        let deviceObjects = DeviceObjects(
            bus: bus,
            gate: gate,
            callers: callers,
            settings: settingsDesk,
            profiles: ProfileDesk(devices: devices, desk: settingsDesk, settings: settings, history: history)
        )
        let health = Health(
            places: places,
            configuration: configuration,
            policy: policy,
            store: store,
            past: past,
            history: history,
            gate: gate,
            engine: engine,
            agents: agents,
            logins: logins,
            live: live,
            libraries: libraries,
            vendors: vendors,
            profiles: profiles
        )
        await health.apply()
        let manager = ManagerObject(
            engine: engine,
            callers: callers,
            bridged: bridged,
            agents: agents,
            devices: devices,
            sessions: sessions,
            doors: doors,
            health: health,
            listeners: listeners,
            live: live
        )
        await library.follow()
        let libraryObject = library.object(
            callers: callers,
            doors: doors,
            settings: settings,
            commandLine: commandLine
        )
        let root = RootObject()
        let authorization = AuthorizationObject(
            bus: bus,
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
            listeners: listeners,
            showSwitches: { switches throws(CaptureError) in try root.show(switches, on: bus) }
        )

        let controlling = ControlHandler(
            authorization: authorization,
            engine: engine,
            identification: Identification(bus: asking, root: places.root)
        )
        let desk = ControlDesk(program: places.door) { await controlling.answer($0, of: $1) }
        do throws(CaptureError) {
            try await desk.open(in: try places.makeRuntime())
        } catch {
            let why = "cannot open the control socket; consent cannot be withdrawn while the bus hangs: \(error)"
            Journal.send(why, priority: .error)
        }
        let telling = Task { await announcer.run(sessions, bus: bus) }
        for device in await devices.devices() { try await deviceObjects.follow(.added(device), announcing: false) }
        let switches = await gate.currentSwitches
        if !switches.fault.isEmpty { Journal.send("everything is switched off: \(switches.fault)", priority: .error) }
        let object = try BusObject(
            path: CaptureNames.root,
            [manager.implementation, authorization.implementation(switches), libraryObject.implementation]
        )
        root.value.withLock { $0 = object }
        try await bus.export(object)
        let keepingHouse = Task { await libraries.keepHouse() }
        let following = Task {
            for await change in changes.stream {
                do throws(CaptureError) {
                    try await deviceObjects.follow(change)
                } catch {
                    Journal.send("cannot announce a device on the bus: \(error)", priority: .error)
                }
            }
        }
        // Last, so that the call that activates the daemon finds everything in its place.
        try await bus.requestName(CaptureNames.service)
        let count = await devices.devices().count
        ServiceManager.tell(.ready, .status(count == 1 ? "1 device" : "\(count) devices"))
        Journal.send("captured \(CaptureVersion.text) serves the \(options.bus) bus")
        rest.plan()

        let end = await signals.wait {
            await health.reload()
        }
        ServiceManager.tell(.stopping)
        Journal.send("captured stops: \(end)")
        following.cancel()
        keepingHouse.cancel()
        async let decided: Void = questions.requests.shutDown()
        await library.requests.shutDown()
        await decided
        // Its sessions save what they recorded.
        await engine.shutDown()
        await settingsDesk.shutDown()
        await libraries.close()
        await history.finish()
        announcer.finish()
        await telling.value
        await bus.close()
        await asking.close()
        if case .lostBus(let error) = end { throw error }
    }

    private static let second = CaptureError(
        .busy,
        "\(CaptureNames.service) is taken: another captured runs on this bus"
    )

    /// Looks at programs' files, each on a thread of its own, because a look may block for ever.
    private static let aside: RunsAside = { work throws(CaptureError) in
        try CaptureError.wrap(.internalFault, try WorkerThread.detached(name: "look", body: work))
    }

    /// Creates a thread for an actor that waits for the disk.
    private static func thread(_ name: String) throws(CaptureError) -> ThreadExecutor {
        return try CaptureError.wrap(.internalFault, try ThreadExecutor(name: name))
    }

    private static func makeSynthetic(
        _ options: DaemonOptions,
        _ configuration: Configuration.Synthetic,
        _ proof: ProofOfLife
    ) throws(CaptureError) -> SyntheticDevices? {
        guard options.synthetic || configuration.enabled else { return nil }
        let devices = SyntheticDevices(speed: configuration.speed, proof: proof)
        try devices.setClockDrift(Int64(configuration.clockDriftPPM))
        return devices
    }
}
