import CaptureBus
public import CaptureCore
import CaptureMessages

/// Reads and changes who may capture, for a person's tools.
///
/// Thread-safe. Changing is refused to sandboxed programs and services.
public struct AuthorizationPanel: Sendable {
    let daemon: CaptureDaemon

    /// The panel of a daemon.
    public init(on daemon: CaptureDaemon) {
        self.daemon = daemon
    }

    /// How this program stands with a service. Never asks.
    public func status(_ service: AuthorizationService) async throws(CaptureError) -> AuthorizationStatus {
        try await status(service.rawValue)
    }

    /// How this program stands with a level of the media library. Never asks.
    ///
    /// - Parameter level: `nil` for the status without a level, for programs that do not know levels: the status of reading,
    ///   with chosen assets counted as all.
    public func libraryStatus(_ level: LibraryLevel? = nil) async throws(CaptureError) -> AuthorizationStatus {
        try await status(level?.service.rawValue ?? LibraryChoice.serviceName)
    }

    private func status(_ name: String) async throws(CaptureError) -> AuthorizationStatus {
        let answer = try await daemon.consult("GetStatus", [.string(name)])
        return try CaptureDaemon.understood(AuthorizationPanel.status(answer.first), "GetStatus")
    }

    /// Asks the person about services that were never answered, and waits for the answer.
    ///
    /// Cancelling the task while it waits withdraws the question.
    ///
    /// - Returns: How this program stands with each of them then. Where one was denied before, the others are not asked for.
    /// - Throws: `dismissed`, `timedOut`, `nobodyToAsk` or `askedTooOften` when there was no answer; `missingUsageDescription`
    ///   when the program does not say why. A no or a restriction by policy is not an error but a status.
    public func requestAccess(
        to services: Set<AuthorizationService>
    ) async throws(CaptureError) -> [AuthorizationService: AuthorizationStatus] {
        let request = try await daemon.hub(for: AuthorizationPanel.requests).begin("RequestAccess", of: daemon) {
            () throws(CaptureError) in
            try await daemon.consult("RequestAccess", [.strings(services.sorted().map(\.rawValue))])
        }
        guard let request else { return Dictionary(uniqueKeysWithValues: services.map { ($0, .authorized) }) }
        let outcome = await request.outcome()
        if let fault = outcome.fault, fault.code != .denied, fault.code != .restricted { throw fault }
        return AuthorizationPanel.statuses(outcome.result)
    }

    private static let requests = RequestHub.Kind(
        interface: CaptureNames.authorization,
        end: "AccessDecided",
        cancel: "CancelAccess",
        lost: CaptureError(.unreachable, "the capture daemon went away while it was asked")
    )

    /// How the daemon sees this program.
    public func whoAmI() async throws(CaptureError) -> ProgramIdentity {
        let answer = try await daemon.consult("WhoAmI")
        return try CaptureDaemon.understood(answer.first.flatMap(ProgramIdentity.init), "WhoAmI")
    }

    /// Every stored answer that this user may see.
    public func entries() async throws(CaptureError) -> [AuthorizationEntry] {
        try CaptureDaemon.records(try await daemon.consult("List").first, "List")
    }

    /// The agents that are there to ask people, the latest first: this user's, and for root everybody's.
    ///
    /// If several of them may be asked about a program, the first is asked.
    public func agents() async throws(CaptureError) -> [AgentSummary] {
        try CaptureDaemon.records(try await daemon.consult("ListAgents").first, "ListAgents")
    }

    /// How a program stands, by service.
    ///
    /// - Parameters:
    ///   - program: The program's id.
    ///   - user: A user's name; empty for the caller's own.
    public func statuses(
        of program: String,
        user: String = ""
    ) async throws(CaptureError) -> [AuthorizationService: AuthorizationStatus] {
        let answer = try await daemon.consult("GetProgramStatus", [.string(user), .string(program)])
        guard let values = answer.first?.properties else { throw CaptureDaemon.malformed("GetProgramStatus") }
        return AuthorizationPanel.statuses(values)
    }

    private static func statuses(_ values: [String: BusValue]) -> [AuthorizationService: AuthorizationStatus] {
        var statuses: [AuthorizationService: AuthorizationStatus] = [:]
        for (name, value) in values {
            if let service = AuthorizationService(rawValue: name) { statuses[service] = status(value) }
        }
        return statuses
    }

    /// Explains which rule or answer decides about a program, and the result of a start now. Never asks.
    ///
    /// - Parameters:
    ///   - program: A program's id; empty for this one, as it runs.
    ///   - services: Which; none for all.
    ///   - user: A user's name; empty for the caller. Only root may name another user.
    public func explain(
        _ program: String = "",
        _ services: [AuthorizationService] = [],
        user: String = ""
    ) async throws(CaptureError) -> [AuthorizationExplanation] {
        let answer = try await daemon.consult(
            "Explain",
            [.string(user), .string(program), .strings(services.map(\.rawValue))]
        )
        return try CaptureDaemon.records(answer.first, "Explain")
    }

    /// Whether each service is switched on; off is off for every program, above all answers.
    public func switches() async throws(CaptureError) -> [AuthorizationService: Bool] {
        let properties = try await daemon.properties(of: CaptureNames.root, CaptureNames.authorization)
        guard let entries = properties["Switches"]?.properties else { throw CaptureDaemon.malformed("Switches") }
        var switches: [AuthorizationService: Bool] = [:]
        for (name, value) in entries {
            // A service that is younger than this client has no name here.
            if let service = AuthorizationService(rawValue: name) { switches[service] = value.boolean }
        }
        return switches
    }

    static func status(_ value: BusValue?) -> AuthorizationStatus? {
        value?.integer(as: UInt32.self).flatMap(AuthorizationStatus.init)
    }
}
