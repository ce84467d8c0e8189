import CaptureBus
public import CaptureCore

/// The media library of the user, as far as the program may use it.
///
/// Adding and reading each have their own consent: `add-only` and `read-write`. The first call that needs an undecided
/// consent asks the person and waits. A program that was refused reading, or may only add, finds nothing, without an
/// error; `authorizationStatus(for:)` tells why. A `limited` program finds only the chosen assets and those that it
/// made itself.
///
/// An asset or album that does not exist, or that the program may not see, is `noSuchAsset` or `noSuchAlbum`. An id
/// that does not have 32 hexadecimal digits is `invalidArgument`.
///
/// Thread-safe. Every call throws `unreachable` if the daemon is not there. If it had to ask and got no answer, it
/// throws `dismissed`, `timedOut`, `nobodyToAsk` or `missingUsageDescription`.
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
        try await AuthorizationPanel(on: daemon).libraryStatus(level)
    }

    /// How this program stands, for programs that know no levels: that of reading, in which chosen assets count as all.
    /// Never asks.
    public func authorizationStatus() async throws(CaptureError) -> AuthorizationStatus {
        try await AuthorizationPanel(on: daemon).libraryStatus()
    }

    /// Asks the person for a level if that was never decided, and waits for the answer. If the task is cancelled while
    /// it waits, the question is withdrawn.
    ///
    /// - Returns: This program's status then. If it was decided before, nobody is asked.
    /// - Throws: The reason why the person gave no answer: `dismissed`, `timedOut`, `nobodyToAsk`, `askedTooOften`,
    ///   `missingUsageDescription`.
    @discardableResult
    public func requestAuthorization(for level: LibraryLevel) async throws(CaptureError) -> AuthorizationStatus {
        let before = try await authorizationStatus(for: level)
        guard before == .notDetermined else { return before }
        _ = try await AuthorizationPanel(on: daemon).requestAccess(to: [level.service])
        // Asked anew: who may read may add as well, which an answer to one service does not tell.
        return try await authorizationStatus(for: level)
    }

    /// The same for programs that know no levels, as before there were two: asks for reading and changing.
    ///
    /// - Returns: As `authorizationStatus()`: chosen assets count as all.
    @discardableResult
    public func requestAuthorization() async throws(CaptureError) -> AuthorizationStatus {
        try await requestAuthorization(for: .readWrite).withoutLevel
    }

    /// Calls a method of the library.
    ///
    /// - Parameter levels: What to ask the person for when the daemon says that it is not decided, each once and in this
    ///   order; the method is called again after each, after a no too: who may not read finds nothing, who may not change is
    ///   told so.
    @discardableResult
    func call(
        _ member: String,
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
                    arguments
                )
            } catch {
                guard error.code == .undecided, let level = left.popFirst() else { throw error }
                _ = try await AuthorizationPanel(on: daemon).requestAccess(to: [level.service])
            }
        }
    }
}
