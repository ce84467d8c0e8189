import Authorization
import CaptureBus
import CaptureCore
import Glibc

/// What `capturectl doctor` and `status` are told of the daemon itself.
actor Health {
    private let places: Places
    private var configuration: Configuration
    private let store: AuthorizationStore
    private let agents: AgentRegistry
    nonisolated let ownUser = getuid()

    init(places: Places, configuration: Configuration, store: AuthorizationStore, agents: AgentRegistry) {
        self.places = places
        self.configuration = configuration
        self.store = store
        self.agents = agents
    }

    /// Reads the configuration anew; what is wrong in it is said, by file and line, and its default kept.
    func reload() {
        ServiceManager.reloading()
        configuration = places.readConfiguration()
        for problem in configuration.problems { Journal.send("\(problem)", priority: .warning) }
        Journal.send("the configuration was read anew: \(configuration.problems.count) problems")
        ServiceManager.ready(status: "reloaded")
    }

    func report() async -> [String: BusValue] {
        let storeFault =
            switch store.state {
            case .usable: ""
            case .unusable(let why): why
            }
        return [
            "version": .string(ManagerObject.version),
            "store": .string(storeFault.isEmpty ? "ok" : "unusable"),
            "storeFault": .string(storeFault),
            "stateDirectory": .string(places.state),
            "configurationProblems": .strings(configuration.problems.map { "\($0)" }),
            "recorder": .string("\(places.recorder(configuration))"),
            "agents": .uint32(UInt32(await agents.count)),
            "user": .string(Users.name(of: ownUser)),
        ]
    }
}
