import CaptureBus
import CaptureCore

/// A request whose outcome comes by `Finished`. Thread-safe.
final class LibraryRequest: Sendable {
    /// Its number in the daemon.
    let number: UInt32
    private let outcome: Task<LibraryHub.Outcome, Never>

    private init(_ number: UInt32, _ outcome: Task<LibraryHub.Outcome, Never>) {
        self.number = number
        self.outcome = outcome
    }

    /// Calls a method that returns a request's number.
    static func start(
        _ library: MediaLibrary,
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> LibraryRequest {
        // Before the request: what is done quickly is told of before the number is known.
        let hub = try await library.daemon.libraryHub()
        let life = hub.life
        let answer = try await library.call(member, signature, arguments, asking: levels)
        guard let number = answer.first?.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw CaptureDaemon.malformed(member)
        }
        return LibraryRequest(number, hub.outcome(of: number, since: life))
    }

    /// Waits for the outcome.
    func result() async throws(CaptureError) -> [String: BusValue] {
        try await outcome.value.get()
    }
}
