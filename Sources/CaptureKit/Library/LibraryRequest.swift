import CaptureBus
import CaptureCore

/// A request whose outcome comes by `Finished`. Thread-safe.
final class LibraryRequest: Sendable {
    /// Its number in the daemon.
    let number: UInt32
    private let outcome: Task<Result<[String: BusValue], CaptureError>, Never>

    private init(_ number: UInt32, _ outcome: Task<Result<[String: BusValue], CaptureError>, Never>) {
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
        let (endings, continuation) = AsyncStream<[BusValue]>.makeStream()
        let connection = library.daemon.connection
        // Before the request: what is done quickly is told of before the number is known.
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: CaptureNames.library,
            member: "Finished"
        )
        let signals = try await connection.subscribe(match) { continuation.yield($0.arguments) }
        let lost = try await connection.watchName(CaptureNames.service) { owner in
            if owner == nil { continuation.finish() }
        }
        connection.onDisconnect { _ in continuation.finish() }
        let answer = try await library.call(member, signature, arguments, asking: levels)
        guard let number = answer.first?.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw CaptureDaemon.malformed(member)
        }
        let outcome = Task<Result<[String: BusValue], CaptureError>, Never> {
            defer { withExtendedLifetime((signals, lost)) {} }
            for await values in endings where values.count == 4 && values[0].unsigned == UInt64(number) {
                let code = values[1].text ?? ""
                if code.isEmpty { return .success(values[3].properties ?? [:]) }
                return .failure(CaptureError(.init(rawValue: code), values[2].text ?? ""))
            }
            return .failure(CaptureError(.unreachable, "the capture daemon went away before that was done"))
        }
        return LibraryRequest(number, outcome)
    }

    /// Waits for the outcome.
    func result() async throws(CaptureError) -> [String: BusValue] {
        try await outcome.value.get()
    }
}
