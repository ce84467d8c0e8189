import CaptureBus
public import CaptureCore

/// Who may capture: to be read and changed by a person's tools.
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
        let answer = try await call("GetStatus", "s", [.string(service.rawValue)])
        guard let status = AuthorizationPanel.status(answer.first) else { throw CaptureDaemon.malformed("GetStatus") }
        return status
    }

    /// How this program stands with a level of the media library. Never asks.
    ///
    /// - Parameter level: `nil` for the status without a level, of programs that know of none: that of reading, in which
    ///   chosen assets count as all.
    public func libraryStatus(_ level: LibraryLevel? = nil) async throws(CaptureError) -> AuthorizationStatus {
        if let level { return try await status(level.service) }
        let answer = try await call("GetStatus", "s", [.string(LibraryChoice.serviceName)])
        guard let status = AuthorizationPanel.status(answer.first) else { throw CaptureDaemon.malformed("GetStatus") }
        return status
    }

    /// Asks the person for what was never answered, and waits for the answer.
    ///
    /// A task that is cancelled while it waits takes the question back.
    ///
    /// - Returns: How this program stands with each of them then. Where one was denied before, the others are not asked for.
    /// - Throws: `dismissed`, `timedOut`, `nobodyToAsk` or `askedTooOften` when there was no answer; `missingUsageDescription`
    ///   when the program does not say why. A no is no error, and what policy forbids is none: both are statuses.
    public func requestAccess(
        to services: Set<AuthorizationService>
    ) async throws(CaptureError) -> [AuthorizationService: AuthorizationStatus] {
        let (decisions, continuation) = AsyncStream<[BusValue]>.makeStream()
        // Before the request: a stored answer comes back at once.
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: CaptureNames.authorization,
            member: "AccessDecided"
        )
        let signals = try await daemon.connection.subscribe(match) { continuation.yield($0.arguments) }
        let lost = try await daemon.connection.watchName(CaptureNames.service) { owner in
            if owner == nil { continuation.finish() }
        }
        let closed = try await daemon.connection.watchClose { _ in continuation.finish() }
        defer { withExtendedLifetime((signals, lost, closed)) {} }
        let names = services.sorted().map(\.rawValue)
        let answer = try await call("RequestAccess", "as", [.strings(names)])
        guard let request = answer.first?.integer else { throw CaptureDaemon.malformed("RequestAccess") }
        // Known already, and no signal follows.
        if request == 0 { return Dictionary(uniqueKeysWithValues: services.map { ($0, .authorized) }) }
        // In a task of its own: one that is cancelled would hear nothing more, and not what came of it.
        let decision = Task { await decisions.first { $0.count == 4 && $0[0].integer == request } }
        let decided = await withTaskCancellationHandler {
            await decision.value
        } onCancel: {
            Task { await self.takeBack(UInt32(clamping: request)) { continuation.finish() } }
        }
        if let values = decided {
            let code = CaptureError.Code(rawValue: values[1].text ?? "")
            if !code.rawValue.isEmpty, code != .denied, code != .restricted {
                throw CaptureError(code, values[2].text ?? "")
            }
            var statuses: [AuthorizationService: AuthorizationStatus] = [:]
            for (name, value) in values[3].properties ?? [:] {
                if let service = AuthorizationService(rawValue: name) {
                    statuses[service] = AuthorizationPanel.status(value)
                }
            }
            return statuses
        }
        throw CaptureError(.unreachable, "the capture daemon went away while it was asked")
    }

    /// Takes a request for access back; its decision still comes.
    ///
    /// - Parameter failed: Called when it will not.
    private func takeBack(_ request: UInt32, _ failed: @Sendable () -> Void) async {
        do throws(CaptureError) {
            _ = try await call("CancelAccess", "u", [.uint32(request)])
        } catch  where error.code == .invalidArgument {
            // It is decided already.
        } catch {
            failed()
        }
    }

    /// How the daemon sees this program.
    public func whoAmI() async throws(CaptureError) -> ProgramIdentity {
        guard let facts = try await call("WhoAmI").first?.properties, let program = facts["program"]?.text else {
            throw CaptureDaemon.malformed("WhoAmI")
        }
        func part(_ name: String) -> String? { facts[name]?.text.flatMap { $0.isEmpty ? nil : $0 } }
        return ProgramIdentity(
            program: program,
            tier: facts["tier"]?.text ?? "",
            user: facts["user"]?.text ?? "",
            userID: UInt32(clamping: facts["uid"]?.integer ?? 0),
            processID: UInt32(clamping: facts["pid"]?.integer ?? 0),
            isByPid: facts["byPid"]?.boolean ?? true,
            detail: facts["detail"]?.text ?? "",
            unit: part("unit"),
            session: part("session"),
            sandbox: part("sandbox"),
            label: part("label"),
            file: ProgramFile(facts)
        )
    }

    /// Every stored answer that this user may see.
    public func entries() async throws(CaptureError) -> [AuthorizationEntry] {
        guard let list = try await call("List").first?.elements else { throw CaptureDaemon.malformed("List") }
        return list.compactMap(\.properties).map { row in
            AuthorizationEntry(
                user: row["user"]?.text ?? row["uid"]?.integer.map { "\($0)" } ?? "",
                program: row["program"]?.text ?? "",
                service: row["service"]?.text ?? "",
                status: row["status"]?.text.flatMap { AuthorizationStatus(word: $0) },
                stored: row["stored"]?.text.flatMap { AuthorizationStatus(word: $0) },
                policy: row["policy"]?.text ?? "",
                follows: row["follows"]?.text ?? "",
                tier: row["tier"]?.text ?? "",
                reason: row["reason"]?.text ?? "",
                time: (row["time"]?.integer ?? 0) / 1000,
                detail: row["detail"]?.text ?? "",
                file: ProgramFile(row),
                lifetime: row["lifetime"]?.text ?? "always",
                ends: row["ends"]?.integer.flatMap { $0 == 0 ? nil : $0 }
            )
        }
    }

    /// How a program stands, by service.
    ///
    /// - Parameter user: A user's name; empty for the caller's own.
    public func statuses(
        of program: String,
        user: String = ""
    ) async throws(CaptureError) -> [AuthorizationService: AuthorizationStatus] {
        let answer = try await call("GetProgramStatus", "ss", [.string(user), .string(program)])
        guard let values = answer.first?.properties else { throw CaptureDaemon.malformed("GetProgramStatus") }
        var statuses: [AuthorizationService: AuthorizationStatus] = [:]
        for (name, value) in values {
            if let service = AuthorizationService(rawValue: name) {
                statuses[service] = AuthorizationPanel.status(value)
            }
        }
        return statuses
    }

    /// What decides about a program, and what a start would do now. Never asks.
    ///
    /// - Parameters:
    ///   - program: A program's id; empty for this one, as it runs.
    ///   - services: Which; none for all.
    ///   - user: A user's name; empty for the caller's own. Another's takes root.
    public func explain(
        _ program: String = "",
        _ services: [AuthorizationService] = [],
        user: String = ""
    ) async throws(CaptureError) -> [AuthorizationExplanation] {
        let answer = try await call(
            "Explain",
            "ssas",
            [.string(user), .string(program), .strings(services.map(\.rawValue))]
        )
        guard let rows = answer.first?.elements?.compactMap(\.properties) else {
            throw CaptureDaemon.malformed("Explain")
        }
        var explanations: [AuthorizationExplanation] = []
        for row in rows {
            func text(_ key: String) -> String { row[key]?.text ?? "" }
            guard let status = AuthorizationStatus(word: text("status")),
                let start = AuthorizationExplanation.Start(rawValue: text("start"))
            else { throw CaptureDaemon.malformed("Explain") }
            explanations.append(
                AuthorizationExplanation(
                    program: text("program"),
                    tier: text("tier"),
                    service: text("service"),
                    status: status,
                    follows: text("follows"),
                    decider: text("decides"),
                    policy: text("policy"),
                    policySource: text("policy-source"),
                    policyFault: text("policy-fault"),
                    possibleRules: row["policy-possible"]?.texts ?? [],
                    stored: AuthorizationStatus(word: text("stored")),
                    reason: text("reason"),
                    time: (row["time"]?.integer ?? 0) / 1000,
                    start: start,
                    exitCode: Int32(clamping: row["exit-code"]?.integer ?? 0),
                    asks: text("asks"),
                    message: text("message")
                )
            )
        }
        return explanations
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

    private static func status(_ value: BusValue?) -> AuthorizationStatus? {
        value?.integer.flatMap { UInt32(exactly: $0) }.flatMap(AuthorizationStatus.init)
    }

    private func call(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.call(CaptureNames.root, CaptureNames.authorization, member, signature, arguments)
    }
}
