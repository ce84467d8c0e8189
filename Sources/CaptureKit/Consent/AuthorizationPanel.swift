import CaptureBus
public import CaptureCore

/// How the daemon sees this program.
public struct ProgramIdentity: Hashable, Sendable {
    /// The id that consent is stored under, as in `exe:/usr/bin/tool`.
    public var program: String
    /// How sure that is: `sandboxed`, `service`, `user` or `claimed`.
    public var tier: String
    /// The user's name.
    public var user: String
    /// The user's number.
    public var userID: UInt32
    /// The process's number.
    public var processID: UInt32
    /// Whether the process was found by its number alone, since the bus gives no descriptor of it.
    public var isByPid: Bool
    /// What the identity is made of, in words.
    public var detail: String
    /// The unit or scope that it runs in; `nil` for none, as with the following.
    public var unit: String?
    /// Its login session.
    public var session: String?
    /// Its sandbox, as in `Flatpak instance 12`.
    public var sandbox: String?
    /// Its connection's security label.
    public var label: String?
    /// The file that it runs.
    public var file: ProgramFile?
}

/// The file of a program.
public struct ProgramFile: Hashable, Sendable {
    /// Its path.
    public var path: String
    /// The device that it lies on (`st_dev`).
    public var device: UInt64
    /// Its inode there (`st_ino`).
    public var inode: UInt64
    /// Whether only root can put another file in its place.
    public var isProtected: Bool
}

extension ProgramFile {
    /// The file among an identity's or an answer's facts; `nil` when there is none.
    init?(_ facts: [String: BusValue]) {
        guard let path = facts["executable"]?.text, !path.isEmpty, let device = facts["device"]?.unsigned,
            let inode = facts["inode"]?.unsigned
        else { return nil }
        self.path = path
        self.device = device
        self.inode = inode
        isProtected = facts["isProtected"]?.boolean ?? false
    }
}

/// A stored answer.
public struct AuthorizationEntry: Hashable, Sendable {
    /// The user whose answer it is.
    public var user: String
    /// Whom it was given to.
    public var program: String
    /// What it is for.
    public var service: String
    /// The answer as it counts: restricted where policy stands above it.
    public var status: AuthorizationStatus?
    /// The answer as it was given.
    public var stored: AuthorizationStatus?
    /// The file and line by which it is restricted; empty where it is not.
    public var policy: String
    /// How sure the program's identity was.
    public var tier: String
    /// Where the answer came from: the user's answer, settings, policy.
    public var reason: String
    /// When, in seconds since 1970; 0 when it is not known.
    public var time: Int64
    /// What the program's identity was made of, in words.
    public var detail: String
    /// The file that it was given for; `nil` when it holds for any that runs under the id.
    public var file: ProgramFile?
    /// How long it holds: `always`, `until`, `connection` or `session`.
    public var lifetime: String = "always"
    /// When it ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    public var ends: Int64?
}

/// Who may capture: to be read and changed by a person's tools.
///
/// Thread-safe. Changing is refused to sandboxed programs and services.
public struct AuthorizationPanel: Sendable {
    private let daemon: CaptureDaemon

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

    /// Asks the person for what was never answered, and waits for the answer.
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
        defer { withExtendedLifetime((signals, lost)) {} }
        let names = services.sorted().map(\.rawValue)
        let answer = try await call("RequestAccess", "as", [.strings(names)])
        guard let request = answer.first?.integer else { throw CaptureDaemon.malformed("RequestAccess") }
        // Known already, and no signal follows.
        if request == 0 { return Dictionary(uniqueKeysWithValues: services.map { ($0, .authorized) }) }
        for await values in decisions where values.count == 4 && values[0].integer == request {
            let code = values[1].text ?? ""
            if !code.isEmpty { throw CaptureError(.init(rawValue: code), values[2].text ?? "") }
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

    /// Stores an answer.
    ///
    /// - Parameters:
    ///   - until: When a yes ends, in milliseconds since 1970; `nil` for never.
    ///   - user: A user's name; empty for the caller's own. Another's takes root.
    /// - Throws: `notPermitted` for callers that may not, `restricted` where policy forbids it, `invalidArgument` for a
    ///   moment that is over or a no with one.
    public func set(
        _ program: String,
        _ service: AuthorizationService,
        isAllowed: Bool,
        until: Int64? = nil,
        user: String = ""
    ) async throws(CaptureError) {
        let word = (isAllowed ? AuthorizationStatus.authorized : .denied).word
        if let until {
            try await change(
                "SetFor",
                "ssssa{sv}",
                [
                    .string(user), .string(program), .string(service.rawValue), .string(word),
                    .properties(["until": .int64(until)]),
                ]
            )
            return
        }
        try await change(
            "Set",
            "ssss",
            [.string(user), .string(program), .string(service.rawValue), .string(word)]
        )
    }

    /// Forgets answers, so that the next start asks again.
    ///
    /// - Parameters:
    ///   - program: `nil` for every program.
    ///   - service: `nil` for every service.
    ///   - user: A user's name; empty for the caller's own.
    /// - Returns: How many were forgotten.
    @discardableResult
    public func reset(
        program: String? = nil,
        service: AuthorizationService? = nil,
        user: String = ""
    ) async throws(CaptureError) -> Int {
        let answer = try await change(
            "Reset",
            "sss",
            [.string(user), .string(program ?? ""), .string(service?.rawValue ?? "")]
        )
        guard let count = answer.first?.integer else { throw CaptureDaemon.malformed("Reset") }
        return Int(count)
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

    /// Turns a service off or on for every program.
    ///
    /// Sessions that use what is turned off are interrupted when this returns.
    ///
    /// - Throws: `notPermitted` for callers that may not, `invalidArgument` for services without a switch, `inputOutput`
    ///   when that cannot be kept.
    public func setSwitch(_ service: AuthorizationService, isOn: Bool) async throws(CaptureError) {
        try await change("SetSwitch", "sb", [.string(service.rawValue), .bool(isOn)])
    }

    private static func status(_ value: BusValue?) -> AuthorizationStatus? {
        value?.integer.flatMap { UInt32(exactly: $0) }.flatMap(AuthorizationStatus.init)
    }

    @discardableResult
    private func call(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.call(CaptureNames.root, CaptureNames.authorization, member, signature, arguments)
    }

    /// Calls a method that may take a person's password.
    @discardableResult
    private func change(
        _ member: String,
        _ signature: String,
        _ arguments: [BusValue]
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.call(
            CaptureNames.root,
            CaptureNames.authorization,
            member,
            signature,
            arguments,
            timeout: CaptureDaemon.passwordTimeout
        )
    }
}
