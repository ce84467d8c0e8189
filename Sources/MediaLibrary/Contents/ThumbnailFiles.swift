import CaptureCore
import Glibc

/// The files of small pictures: `thumbnails/ab/HASH-SIZE.jpg`. Any of them may go at any time. Thread-safe.
struct ThumbnailFiles: Sendable {
    private let folder: OwnedDescriptor
    private let path: String

    /// - Parameter path: Where the library is.
    init(_ folder: OwnedDescriptor, _ path: String) {
        self.folder = folder
        self.path = path
    }

    /// Stores one, in the place of what is there.
    func put(_ picture: [UInt8], _ hash: String, _ size: ThumbnailSize) throws(CaptureError) {
        let what = "a thumbnail of the media library"
        let part = try folder.subfolder(String(hash.prefix(2)), path + "/thumbnails")
        let unfinished = LibraryID.make()
        let file = try OwnedDescriptor.open(unfinished, in: part.number, O_WRONLY | O_CREAT | O_EXCL, mode: 0o400, what)
        do throws(CaptureError) {
            try file.write(picture, what)
            // Else a power cut could leave an empty picture under the finished name.
            try file.synchronize(what)
            try LibraryCall.check("\(what) cannot be moved into place") {
                unsafe renameat(part.number, unfinished, part.number, ThumbnailFiles.name(hash, size))
            }
        } catch {
            try part.unlink(unfinished, what)
            throw error
        }
    }

    /// One for reading; `nil` when it is not there, or is no whole JPEG.
    func open(_ hash: String, _ size: ThumbnailSize) throws(CaptureError) -> OwnedDescriptor? {
        let what = "a thumbnail of the media library"
        guard let part = try folder.folder(String(hash.prefix(2)), what) else { return nil }
        do throws(CaptureError) {
            let name = ThumbnailFiles.name(hash, size)
            guard let file = try part.file(name, what), try file.isJPEG(what) else {
                return nil
            }
            return file
        } catch  where ContentFiles.isLoss(error) {
            return nil
        }
    }

    /// Removes those of a content.
    func remove(_ hash: String) throws(CaptureError) {
        let what = "a thumbnail of the media library"
        guard let part = try folder.folder(String(hash.prefix(2)), what) else { return }
        for size in ThumbnailSize.allCases {
            try part.unlink(ThumbnailFiles.name(hash, size), what)
        }
    }

    private static func name(_ hash: String, _ size: ThumbnailSize) -> String {
        "\(hash)-\(size.rawValue).jpg"
    }
}

extension OwnedDescriptor {
    /// Whether it is a regular file that begins and ends as a JPEG does: ITU-T T.81, B.1.1.3.
    fileprivate func isJPEG(_ what: String) throws(CaptureError) -> Bool {
        let status = try status(what)
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 4 else { return false }
        guard try holds([0xFF, 0xD8, 0xFF], at: 0, what) else { return false }
        return try holds([0xFF, 0xD9], at: status.st_size - 2, what)
    }

    private func holds(_ bytes: [UInt8], at position: off_t, _ what: String) throws(CaptureError) -> Bool {
        var found = [UInt8](repeating: 0, count: bytes.count)
        let count = try LibraryCall.check("\(what) cannot be read") {
            unsafe pread(number, &found, found.count, position)
        }
        return count == bytes.count && found == bytes
    }
}
