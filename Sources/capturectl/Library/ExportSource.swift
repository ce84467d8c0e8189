import CaptureKit
import Glibc

/// What is to be exported of an asset: its facts and its open contents.
struct ExportSource {
    /// As it is exported: without an edit where that cannot be read.
    private(set) var asset: MediaAsset
    /// What is current.
    let content: Descriptor
    /// As it was added, where there is an edit.
    private(set) var original: Descriptor?
    /// Why the edit is left out; `nil` where it is not.
    private(set) var fault: CaptureError?

    /// The SHA-256 of the contents.
    struct Hashes {
        var current: String
        var original: String?
    }

    /// Opens the contents.
    ///
    /// - Throws: What the library says, as `inputOutput` of an asset whose file is missing. Of one whose edit alone is
    ///   missing, that is the `fault`, and the original is the content.
    init(_ asset: MediaAsset, in library: MediaLibrary) async throws(CaptureError) {
        self.asset = asset
        let current: Descriptor
        do throws(CaptureError) {
            current = try await library.contents(of: asset.id)
        } catch {
            guard asset.isEdited, error.code == .inputOutput else { throw error }
            content = try await library.contents(of: asset.id, version: .original)
            fault = error
            self.asset.isEdited = false
            var status = stat()
            if unsafe fstat(content.descriptor, &status) == 0 { self.asset.size = UInt64(clamping: status.st_size) }
            return
        }
        content = current
        if asset.isEdited { original = try await library.contents(of: asset.id, version: .original) }
    }

    /// Reads the contents.
    func hashes() throws(CaptureError) -> Hashes {
        var hashes = Hashes(current: try FileCopy.copy(content, to: nil))
        if let original { hashes.original = try FileCopy.copy(original, to: nil) }
        return hashes
    }
}
