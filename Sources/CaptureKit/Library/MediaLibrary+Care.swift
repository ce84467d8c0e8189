import CaptureBus
public import CaptureCore

/// Something that is wrong in the library.
public struct LibraryFault: Hashable, Sendable {
    /// `missing`, `damaged`, `orphaned` or `index`.
    public var kind: String
    /// The asset that it is about; `nil` where it is about none.
    public var asset: MediaAsset.ID?
    /// The file, as a path in the library's folder; empty where it is about the index.
    public var name: String
    /// What is wrong, in a sentence.
    public var message: String
    /// What was done about it, in a sentence; empty after a check.
    public var outcome: String
}

/// The library's health. For who may read everything; others are told `denied` or `restricted`, and `busy` while one is under way.
extension MediaLibrary {
    /// Compares the index with the files, each by its content, and waits for that: minutes, of a large library.
    ///
    /// - Returns: What is wrong.
    public func check() async throws(CaptureError) -> [LibraryFault] { try await faults("Check") }

    /// The same, and mends it: files that are damaged or belong to nothing are set aside, never deleted, and assets
    /// without a content go to the bin.
    ///
    /// - Returns: What was wrong.
    public func repair() async throws(CaptureError) -> [LibraryFault] { try await faults("Repair") }

    private func faults(_ member: String) async throws(CaptureError) -> [LibraryFault] {
        let result = try await cancellable(member).result
        return (result["faults"]?.elements ?? []).compactMap(\.properties).map { facts in
            LibraryFault(
                kind: facts["kind"]?.text ?? "",
                asset: facts["id"]?.text.flatMap { $0.isEmpty ? nil : $0 },
                name: facts["name"]?.text ?? "",
                message: facts["message"]?.text ?? "",
                outcome: facts["outcome"]?.text ?? ""
            )
        }
    }
}
