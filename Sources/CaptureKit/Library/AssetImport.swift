import CaptureBus
public import CaptureCore
import CaptureSystem
import Glibc

/// A file on its way into the library: all of it gets there, or nothing does. Thread-safe.
public final class AssetImport: Sendable {
    private let request: LongRequest
    private let file: Descriptor
    private let size: Int64?

    init(_ request: LongRequest, _ file: Descriptor, _ size: Int64?) {
        self.request = request
        self.file = file
        self.size = size
    }

    /// How much of the file was taken, 0 to 1; `nil` if that is unknown, as for a pipe.
    ///
    /// The daemon reads the very file that was opened here, so that its position tells.
    public var progress: Double? {
        guard let size else { return nil }
        let position = lseek(file.descriptor, 0, SEEK_CUR)
        guard position >= 0 else { return nil }
        return size == 0 ? 1 : min(1, Double(position) / Double(size))
    }

    /// Stops the import, and leaves the library as it was before; `outcome()` then throws. Has no effect on a finished
    /// import.
    ///
    /// - Throws: `unreachable`.
    public func cancel() async throws(CaptureError) {
        try await request.cancel()
    }

    /// Waits until it is in the library, on disk.
    ///
    /// A task that is cancelled while it waits stops it.
    ///
    /// - Returns: The asset's id, for a program that may read it; `nil` for one that may only add.
    /// - Throws: The reason why nothing was added or edited: `badData` for a file that is no photo, movie or sound,
    ///   `denied`, `overQuota`, `inputOutput` for a full disk, `dismissed` if it was cancelled.
    public func outcome() async throws(CaptureError) -> MediaAsset.ID? {
        try await outcomeInAlbum().id
    }

    /// The same, with what became of the album that it was to join.
    ///
    /// - Returns: The id, as of `outcome()`; and why it is in the library and not in that album, as `noSuchAlbum` when that
    ///   was deleted meanwhile, else `nil`.
    public func outcomeInAlbum() async throws(CaptureError) -> (id: MediaAsset.ID?, albumError: CaptureError?) {
        let result = try await request.result()
        let code = result["album-error"]?.text.map { CaptureError.Code(rawValue: $0) }
        return (result["id"]?.text, code.map { CaptureError($0, result["remark"]?.text ?? "") })
    }

    /// The size of a regular file, `nil` of anything else.
    static func size(of file: Descriptor) -> Int64? {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}
