import CaptureBus
public import CaptureCore

/// The media library of the user, as far as the program may use it.
///
/// Adding and reading have each a consent of their own: `add-only` and `read-write`. What was never decided is asked by
/// the first call that needs it, which waits for the person then. A program that was refused reading, or may only add,
/// finds nothing, without an error; `authorizationStatus(for:)` tells why. One that was given chosen assets (`limited`)
/// finds these and what it made itself, and nothing else by any call.
///
/// An asset or album that does not exist, or that the program may not see, is `noSuchAsset` or `noSuchAlbum`; an id that is
/// none, of other than 32 hexadecimal digits, is `invalidArgument`.
///
/// Thread-safe. Every call throws `unreachable` when the daemon is not there, and what a person's silence comes to where
/// one was asked: `dismissed`, `timedOut`, `nobodyToAsk`, `missingUsageDescription`.
public struct MediaLibrary: Sendable {
    let daemon: CaptureDaemon

    /// The library on the side of the given daemon.
    public init(on daemon: CaptureDaemon) {
        self.daemon = daemon
    }

    /// The library that the process's parts have in common, by `CaptureDaemon.shared()`.
    public static func shared() async throws(CaptureError) -> MediaLibrary {
        MediaLibrary(on: try await CaptureDaemon.shared())
    }

    /// How this program stands with a level. Never asks.
    public func authorizationStatus(for level: LibraryLevel) async throws(CaptureError) -> AuthorizationStatus {
        try await status(level.rawValue)
    }

    /// How this program stands, for programs that know no levels: that of reading, in which chosen assets count as all.
    /// Never asks.
    public func authorizationStatus() async throws(CaptureError) -> AuthorizationStatus {
        try await status("")
    }

    /// Asks the person for a level where that was never decided, and waits for the answer. A task that is cancelled while it
    /// waits takes the question back.
    ///
    /// - Returns: How this program stands then: for what was decided before, without a question.
    /// - Throws: What came in the place of an answer: `dismissed`, `timedOut`, `nobodyToAsk`, `askedTooOften`,
    ///   `missingUsageDescription`.
    @discardableResult
    public func requestAuthorization(for level: LibraryLevel) async throws(CaptureError) -> AuthorizationStatus {
        let before = try await authorizationStatus(for: level)
        guard before == .notDetermined else { return before }
        _ = try await AuthorizationPanel(on: daemon).requestAccess(to: [level.service])
        // Asked anew: who may read may add as well, which an answer to one service does not tell.
        return try await authorizationStatus(for: level)
    }

    private func status(_ level: String) async throws(CaptureError) -> AuthorizationStatus {
        let answer = try await call("GetStatus", "s", [.string(level)])
        guard let status = MediaLibrary.status(answer.first) else {
            throw CaptureDaemon.malformed("GetStatus")
        }
        return status
    }

    static func status(_ value: BusValue?) -> AuthorizationStatus? {
        value?.integer.flatMap { UInt32(exactly: $0) }.flatMap(AuthorizationStatus.init)
    }

    /// Calls a method of the library.
    ///
    /// - Parameter levels: What to ask the person for when the daemon says that it is not decided, each once and in this
    ///   order; the method is called again after each, after a no too: who may not read finds nothing, who may not change is
    ///   told so.
    @discardableResult
    func call(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> [BusValue] {
        var left = levels[...]
        while true {
            do throws(CaptureError) {
                return try await daemon.call(
                    CaptureNames.root,
                    CaptureNames.library,
                    member,
                    signature,
                    arguments
                )
            } catch {
                guard error.code == .undecided, let level = left.popFirst() else { throw error }
                _ = try await AuthorizationPanel(on: daemon).requestAccess(to: [level.service])
            }
        }
    }
}
