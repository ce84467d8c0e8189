import CaptureBus
public import CaptureCore
import CaptureMessages

/// The library's health. For who may read everything; others are told `denied` or `restricted`, and `busy` while one is under way.
extension MediaLibrary {
    /// Compares the index with the files, each by its content, and waits for that: minutes, of a large library.
    ///
    /// - Returns: The faults.
    public func check() async throws(CaptureError) -> [LibraryFault] { try await faults("Check") }

    /// The same, and mends it: files that are damaged or belong to nothing are set aside, never deleted, and assets
    /// without a content go to the bin.
    ///
    /// - Returns: The faults that it found.
    public func repair() async throws(CaptureError) -> [LibraryFault] { try await faults("Repair") }

    private func faults(_ member: String) async throws(CaptureError) -> [LibraryFault] {
        let result = try await cancellable(member).result
        // A daemon that found nothing may say nothing of faults.
        return try result["faults"].map { value throws(CaptureError) in
            try CaptureDaemon.records(value, member)
        } ?? []
    }
}
