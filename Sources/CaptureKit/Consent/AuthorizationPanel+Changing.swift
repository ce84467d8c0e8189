import CaptureBus
public import CaptureCore
import CaptureMessages

/// Changes consent. Programs that may not are refused, and allowing more takes the person's password.
extension AuthorizationPanel {
    /// Stores a yes for everything or a no.
    ///
    /// - Parameters:
    ///   - program: The program's id, such as `exe:/usr/bin/ffmpeg`.
    ///   - service: The service that the answer is about.
    ///   - isAllowed: Whether it is a yes.
    ///   - until: When a yes ends, in milliseconds since 1970; `nil` for never.
    ///   - user: A user's name; empty for the caller. Only root may name another user.
    /// - Throws: `notPermitted` for callers that may not change it, `restricted` if policy forbids it,
    ///   `invalidArgument` for a time in the past or a no with a time.
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
    ///   - program: The program's id.
    ///   - choice: The access that the program gets.
    ///   - until: When a yes ends, in milliseconds since 1970; `nil` for never.
    ///   - user: A user's name; empty for the caller. Only root may name another user.
    /// - Throws: As `set(_:_:isAllowed:until:user:)`. Allowing no more than before takes no password.
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
        let words = [user, program, service, word].map { BusValue.string($0) }
        try await change("Set", words + [SetOptions(until: until).busValue])
    }

    /// Forgets answers, so that the next start asks again.
    ///
    /// - Parameters:
    ///   - program: `nil` for every program.
    ///   - service: `nil` for every service.
    ///   - user: A user's name; empty for the caller's own, and for root everybody's.
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
    ///   - user: A user's name; empty for the caller's own, and for root everybody's.
    /// - Returns: How many were forgotten.
    @discardableResult
    public func resetLibrary(program: String? = nil, user: String = "") async throws(CaptureError) -> Int {
        try await reset(program, LibraryChoice.serviceName, user)
    }

    private func reset(_ program: String?, _ service: String, _ user: String) async throws(CaptureError) -> Int {
        let answer = try await change("Reset", [.string(user), .string(program ?? ""), .string(service)])
        return Int(try CaptureDaemon.understood(answer.first?.integer, "Reset"))
    }

    /// Turns a service off or on for every program.
    ///
    /// Turning a service off interrupts the sessions that use it before this returns.
    ///
    /// - Throws: `notPermitted` for callers that may not, `invalidArgument` for services without a switch, `inputOutput`
    ///   when that cannot be kept.
    public func setSwitch(_ service: AuthorizationService, isOn: Bool) async throws(CaptureError) {
        try await change("SetSwitch", [.string(service.rawValue), .bool(isOn)])
    }

    /// Calls a method that may take a person's password.
    @discardableResult
    private func change(
        _ member: String,
        _ arguments: [BusValue]
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.consult(member, arguments, timeout: CaptureDaemon.passwordTimeout)
    }
}
