import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc

/// What `capturectl doctor` and `status` are told of the daemon itself.
actor Health {
    private let places: Places
    private var configuration: Configuration
    private var policy: Policy
    private let store: AuthorizationStore
    private let past: HistoryStore
    private let history: HistoryKeeper
    private let gate: AuthorizationGate
    private let engine: CaptureEngine
    private let agents: AgentRegistry
    private let logins: LoginWatch
    private let live: LiveUses
    private let libraries: LibraryCatalog
    private let vendors: VendorControls
    private let profiles: DeviceProfiles
    /// How many readings of the configuration were begun, and the number of the last one that was applied.
    private var readings: (begun: UInt64, applied: UInt64) = (0, 0)
    nonisolated let ownUser = getuid()

    init(
        places: Places,
        configuration: Configuration,
        policy: Policy,
        store: AuthorizationStore,
        past: HistoryStore,
        history: HistoryKeeper,
        gate: AuthorizationGate,
        engine: CaptureEngine,
        agents: AgentRegistry,
        logins: LoginWatch,
        live: LiveUses,
        libraries: LibraryCatalog,
        vendors: VendorControls,
        profiles: DeviceProfiles
    ) {
        self.places = places
        self.configuration = configuration
        self.policy = policy
        self.store = store
        self.past = past
        self.history = history
        self.gate = gate
        self.engine = engine
        self.agents = agents
        self.logins = logins
        self.live = live
        self.libraries = libraries
        self.vendors = vendors
        self.profiles = profiles
    }

    /// Reads the configuration and the policy again, and reports errors in them by file and line. Policy, prompt
    /// settings, the time that devices may be silent and the makers' own controls take effect at once. Devices and recorders are set up only at the
    /// start.
    ///
    /// When it returns, what the policy forbids has been withdrawn, and nothing is delivered on it any more. It does
    /// not wait for files to be finished, because the next reload may forbid more.
    func reload() async {
        ServiceManager.tell(.reloading)
        readings.begun += 1
        let number = readings.begun
        guard let read = await read() else { return ServiceManager.tell(.ready, .status("not reloaded")) }
        // An older reading does not replace a newer one: it may allow what was forbidden since.
        guard number > readings.applied else {
            await gate.setPolicy(policy)
            return ServiceManager.tell(.ready, .status("reloaded"))
        }
        readings.applied = number
        configuration = read.configuration
        // First: nobody goes on before it is known, and no logind that does not answer holds it up.
        policy = read.policy
        SessionJournal.record(policy)
        await gate.setPolicy(policy)
        await apply()
        for problem in configuration.problems { Journal.send("\(problem)", priority: .warning) }
        let count = configuration.problems.count + policy.faults.count + policy.refusals.count + policy.remarks.count
        Journal.send("the configuration was read again: \(count) problem\(count == 1 ? "" : "s")")
        ServiceManager.tell(.ready, .status("reloaded"))
    }

    /// Hands the settings on: at the start, and when they were read again. A new setting that takes effect at a reload has
    /// its line here, and nowhere else.
    func apply() async {
        await gate.setLifetimes(configuration.consent.lifetimes)
        await gate.setPromptTimeout(configuration.consent.promptTimeout)
        await agents.setPasswords(places.passwords(configuration))
        await gate.setPromptLimits(configuration.consent.promptLimits)
        await logins.setStopping(configuration.consent.stopWhenLocked)
        live.setLinger(configuration.indicator.linger)
        await engine.setSilenceLimit(configuration.devices.silenceTimeout)
        await engine.setPreRollMemory(configuration.recorder.preRollMemory)
        vendors.allow(configuration.devices.vendorControls)
        await history.setLimits(configuration.history.limits)
    }

    /// The configuration and policy on disk, with the users and groups that they name.
    private func read() async -> (configuration: Configuration, policy: Policy)? {
        do throws(CaptureError) {
            return try await WorkerThread.run("reload") { [places] in
                (places.readConfiguration(), places.readPolicy())
            }
        } catch {
            Journal.send("cannot read the configuration again: \(error)", priority: .error)
            return nil
        }
    }

    func report() async throws(CaptureError) -> DaemonHealth {
        let faults = await libraries.faults
        let users = Array(faults.keys) + [ownUser]
        try await WorkerThread.run("health") { [store, past] in
            store.look()
            past.look()
            for user in users { Users.learn(user) }
        }
        let switches = await gate.currentSwitches
        var health = DaemonHealth()
        health.version = CaptureVersion.text
        health.storeFault = Health.fault(store.state)
        health.store = health.storeFault.isEmpty ? "ok" : "unusable"
        health.storeRemedy = store.remedy
        health.historyFault = Health.fault(past.state)
        health.history = health.historyFault.isEmpty ? "ok" : "unusable"
        health.historyRemedy = past.remedy
        health.libraryFaults = faults.sorted { $0.key < $1.key }.map { "\(Users.name(of: $0.key)): \($0.value)" }
        health.stateDirectory = places.state
        health.configurationProblems = configuration.problems.map { "\($0)" }
        health.switchedOff = Service.ofDevices.filter(switches.isOff).map(\.rawValue)
        health.switchFault = switches.fault
        health.profileFault = profiles.fault
        health.policyRules = UInt32(clamping: policy.ruleCount)
        health.policyFaults = policy.faults.map { "\($0)" }
        health.policyProblems = (policy.refusals + policy.remarks).map { "\($0)" }
        health.recorder = "\(places.recorder(configuration))"
        health.agents = UInt32(clamping: await agents.count)
        health.user = Users.name(of: ownUser)
        return health
    }

    private static func fault(_ state: StoreState) -> String {
        if case .unusable(let why) = state { why } else { "" }
    }
}
