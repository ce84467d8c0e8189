/// The daemon's report about itself. The text of a fault is empty as long as there is no fault.
public struct DaemonHealth: Hashable, Sendable {
    /// The daemon's version.
    public var version = ""
    /// `ok`, or `unusable` if the answers cannot be read or written, so that nothing starts.
    public var store = ""
    /// Why the store of answers cannot be used.
    public var storeFault = ""
    /// The command that mends the store.
    public var storeRemedy = ""
    /// `ok`, or `unusable` if uses cannot be recorded, so that nothing starts.
    public var history = ""
    /// Why the history cannot be used.
    public var historyFault = ""
    /// The command that mends the history.
    public var historyRemedy = ""
    /// Media libraries that cannot be used: `user: why` each.
    public var libraryFaults: [String] = []
    /// The folder of the store and the history.
    public var stateDirectory = ""
    /// Mistakes in the configuration: `file:line: what` each.
    public var configurationProblems: [String] = []
    /// Services that are switched off for every program.
    public var switchedOff: [String] = []
    /// Why the switches cannot be read; everything is switched off then.
    public var switchFault = ""
    /// Why the file of device profiles cannot be used; no device has a profile then.
    public var profileFault = ""
    /// How many rules the policy has.
    public var policyRules: UInt32 = 0
    /// Mistakes in the policy, by which every start is refused: `file:line: what` each.
    public var policyFaults: [String] = []
    /// Rules of the policy that have no effect: `file:line: what` each.
    public var policyProblems: [String] = []
    /// Where recorders come from: a program's path, or the socket of a unit.
    public var recorder = ""
    /// How many agents can ask people; `nil` if the daemon did not say.
    public var agents: UInt32?
    /// The user that the daemon runs as.
    public var user = ""

    /// A report that says nothing.
    public init() {}
}
