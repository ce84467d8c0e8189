import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// The Authorization interface: consent asked for, looked at and changed.
struct AuthorizationObject: Sendable {
    let bus: BusConnection
    let gate: AuthorizationGate
    let engine: CaptureEngine
    let callers: CallerDirectory
    let agents: AgentRegistry
    let requests: AccessRequests
    let picking: PickingDesk
    let librarySettings: LibrarySettings
    let commandLine: ShippedCommandLine
    let settings: SettingsGuard
    let history: HistoryPages
    let listeners: Listeners
    /// Tells the bus of switches: the object that has them as a property. Must not block.
    let showSwitches: @Sendable (Switches) throws(CaptureError) -> Void

    func implementation(_ switches: Switches) -> BusImplementation {
        BusImplementation(
            CaptureInterfaces.authorization,
            methods: [
                "GetStatus": getStatus, "RequestAccess": requestAccess, "CancelAccess": cancelAccess, "WhoAmI": whoAmI,
                "List": list,
                "GetProgramStatus": getProgramStatus, "Explain": explain, "Set": set, "Reset": reset,
                "GetHistory": getHistory, "RegisterAgent": registerAgent, "UnregisterAgent": unregisterAgent,
                "Answer": answer, "Dismiss": dismiss, "SetSwitch": setSwitch,
                "AnswerFor": answerFor, "SetFor": setFor, "BrowseFor": browseFor, "ThumbnailFor": thumbnailFor,
                "AnswerPicked": answerPicked,
            ],
            quick: ["GetStatus": rememberedStatus, "RequestAccess": requestRemembered],
            properties: AuthorizationObject.properties(of: switches)
        )
    }
}
