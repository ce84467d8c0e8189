import CaptureBus
package import CaptureCore

extension DaemonHealth: BusRecord {
    /// What `GetHealth` tells.
    package static let fields: [BusField<DaemonHealth>] = [
        BusField("version", \.version), BusField("store", \.store), BusField("storeFault", \.storeFault),
        BusField("storeRemedy", \.storeRemedy), BusField("history", \.history),
        BusField("historyFault", \.historyFault), BusField("historyRemedy", \.historyRemedy),
        BusField("libraryFaults", \.libraryFaults), BusField("stateDirectory", \.stateDirectory),
        BusField("configurationProblems", \.configurationProblems), BusField("switchedOff", \.switchedOff),
        BusField("switchFault", \.switchFault), BusField("profileFault", \.profileFault),
        BusField("policyRules", \.policyRules),
        BusField("policyFaults", \.policyFaults), BusField("policyProblems", \.policyProblems),
        BusField("recorder", \.recorder), BusField("agents", \.agents), BusField("user", \.user),
    ]
}
