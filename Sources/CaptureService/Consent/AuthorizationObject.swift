import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// The Authorization interface: consent asked for, looked at and changed.
struct AuthorizationObject: Sendable {
    let bus: BusConnection
    let gate: AuthorizationGate
    let engine: CaptureEngine
    let callers: CallerDirectory
    let agents: AgentRegistry
    let questions: AccessQuestions
    let stated: StatedReasons
    let picking: PickingDesk
    let librarySettings: LibrarySettings
    let commandLine: ShippedProgram
    let settings: SettingsGuard
    let history: HistoryPages
    let listeners: Listeners
    /// Tells the bus of switches: the object that has them as a property. Must not block.
    let showSwitches: @Sendable (Switches) throws(CaptureError) -> Void

    func implementation(_ switches: Switches) -> BusImplementation {
        BusImplementation(
            CaptureInterfaces.authorization,
            methods: [
                "GetStatus": getStatus, "RequestAccess": requestAccess, "WhoAmI": whoAmI, "List": list,
                "GetProgramStatus": getProgramStatus, "Explain": explain, "Reset": reset, "GetHistory": getHistory,
                "ListAgents": listAgents, "BrowseFor": browseFor, "ThumbnailFor": thumbnailFor,
            ],
            actions: [
                "CancelAccess": cancelAccess, "SetUsageDescriptions": setUsageDescriptions, "Set": set,
                "RegisterAgent": registerAgent, "UnregisterAgent": unregisterAgent, "Answer": answer,
                "Dismiss": dismiss, "SetSwitch": setSwitch, "AnswerPicked": answerPicked,
            ],
            quick: ["GetStatus": rememberedStatus, "RequestAccess": requestRemembered],
            properties: AuthorizationObject.properties(of: switches)
        )
    }
}
