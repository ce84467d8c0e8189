import CaptureBus
public import CaptureCore

/// What changes consent. Whoever may not is refused, and what loosens it takes the person's password.
extension AuthorizationPanel {
    /// Stores a yes for everything or a no.
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
        try await set(program, service.rawValue, word, until, user)
    }

    /// Stores a choice about the media library: the answers to both of its levels, at once or not at all.
    ///
    /// - Parameters:
    ///   - until: When a yes ends, in milliseconds since 1970; `nil` for never.
    ///   - user: A user's name; empty for the caller's own. Another's takes root.
    /// - Throws: As `set(_:_:isAllowed:until:user:)`. What allows no more than stands takes no password.
    public func set(
        _ program: String,
        library choice: LibraryChoice,
        until: Int64? = nil,
        user: String = ""
    ) async throws(CaptureError) {
        try await set(program, LibraryChoice.serviceName, choice.rawValue, until, user)
    }

    private func set(
        _ program: String,
        _ service: String,
        _ word: String,
        _ until: Int64?,
        _ user: String
    ) async throws(CaptureError) {
        if let until {
            try await change(
                "SetFor",
                "ssssa{sv}",
                [
                    .string(user), .string(program), .string(service), .string(word),
                    .properties(["until": .int64(until)]),
                ]
            )
            return
        }
        try await change(
            "Set",
            "ssss",
            [.string(user), .string(program), .string(service), .string(word)]
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
        try await reset(program, service?.rawValue ?? "", user)
    }

    /// Forgets the answers to both levels of the media library, at once or not at all.
    ///
    /// - Parameters:
    ///   - program: `nil` for every program.
    ///   - user: A user's name; empty for the caller's own.
    /// - Returns: How many were forgotten.
    @discardableResult
    public func resetLibrary(program: String? = nil, user: String = "") async throws(CaptureError) -> Int {
        try await reset(program, LibraryChoice.serviceName, user)
    }

    private func reset(_ program: String?, _ service: String, _ user: String) async throws(CaptureError) -> Int {
        let answer = try await change("Reset", "sss", [.string(user), .string(program ?? ""), .string(service)])
        guard let count = answer.first?.integer else { throw CaptureDaemon.malformed("Reset") }
        return Int(count)
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
