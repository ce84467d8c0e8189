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
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> LibraryRequest {
        // Before the request: what is done quickly is told of before the number is known.
        let hub = try await library.daemon.libraryHub()
        let life = hub.life
        let answer = try await library.call(member, arguments, asking: levels)
        guard let number = answer.first?.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw CaptureDaemon.malformed(member)
        }
        return LibraryRequest(number, hub.outcome(of: number, since: life))
    }

    /// Waits for the outcome.
    func result() async throws(CaptureError) -> [String: BusValue] {
        try await outcome.value.get()
    }

    /// The same; a task that is cancelled meanwhile takes the request back, and waits for what comes of that.
    func result(orTakingBack library: MediaLibrary) async throws(CaptureError) -> [String: BusValue] {
        await withTaskCancellationHandler {
            _ = await outcome.value
        } onCancel: {
            // A daemon that is gone has stopped it as well, and the outcome says so.
            Task { try? await self.takeBack(library) }
        }
        return try await result()
    }

    /// Takes it back; does nothing to what is done.
    ///
    /// - Throws: `unreachable`.
    func takeBack(_ library: MediaLibrary) async throws(CaptureError) {
        do throws(CaptureError) {
            try await library.call("Cancel", [.uint32(number)], asking: [])
        } catch  where [.invalidArgument, .wrongState].contains(error.code) {
            return
        }
    }
}

extension MediaLibrary {
    /// Makes a request and waits for its outcome. A task that is cancelled meanwhile takes it back, and waits for that.
    func cancellable(
        _ member: String,
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> (request: UInt32, result: [String: BusValue]) {
        let request = try await LibraryRequest.start(self, member, arguments, asking: levels)
        return (request.number, try await request.result(orTakingBack: self))
    }
}
