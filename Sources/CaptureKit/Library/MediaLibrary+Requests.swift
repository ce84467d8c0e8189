import CaptureBus
import CaptureCore

/// Requests to the media library, which `Finished` ends.
extension MediaLibrary {
    private static let requests = RequestHub.Kind(
        interface: CaptureNames.library,
        end: "Finished",
        cancel: "Cancel",
        lost: CaptureError(.unreachable, "the capture daemon went away before that was done")
    )

    /// Calls a method that begins a request.
    func begin(
        _ member: String,
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> LongRequest {
        let request = try await daemon.hub(for: MediaLibrary.requests).begin(member, of: daemon) {
            () throws(CaptureError) in try await call(member, arguments, asking: levels)
        }
        return try CaptureDaemon.understood(request, member)
    }

    /// Makes a request and waits for its outcome. A task that is cancelled meanwhile cancels it, and waits for that.
    func cancellable(
        _ member: String,
        _ arguments: [BusValue] = [],
        asking levels: [LibraryLevel] = [.readWrite]
    ) async throws(CaptureError) -> (request: UInt32, result: [String: BusValue]) {
        let request = try await begin(member, arguments, asking: levels)
        return (request.number, try await request.result())
    }
}
