import CaptureCore
import Glibc

/// The files of small pictures: `thumbnails/ab/HASH-SIZE.jpg`. Any of them may go at any time.
extension LibraryFolder {
    /// Stores one, in the place of what is there.
    func putThumbnail(_ picture: [UInt8], _ hash: String, _ size: ThumbnailSize) throws(CaptureError) {
        let what = "a thumbnail of the media library"
        let part = try LibraryFolder.subfolder(String(hash.prefix(2)), of: thumbnails, path + "/thumbnails")
        let unfinished = LibraryID.make()
        let file = try OwnedDescriptor.open(unfinished, in: part.number, O_WRONLY | O_CREAT | O_EXCL, mode: 0o400, what)
        do throws(CaptureError) {
            try file.write(picture, what)
            // Else a power cut could leave an empty picture under the finished name.
            try file.synchronize(what)
            try LibraryCall.check("\(what) cannot be moved into place") {
                unsafe renameat(part.number, unfinished, part.number, LibraryFolder.thumbnailName(hash, size))
            }
        } catch {
            try LibraryFolder.unlink(unfinished, in: part, what)
            throw error
        }
    }

    /// One for reading; `nil` when it is not there.
    func openThumbnail(_ hash: String, _ size: ThumbnailSize) throws(CaptureError) -> OwnedDescriptor? {
        let what = "a thumbnail of the media library"
        guard let part = try existing(String(hash.prefix(2)), in: thumbnails, what) else { return nil }
        return try LibraryFolder.openIfThere(LibraryFolder.thumbnailName(hash, size), in: part, what)
    }

    /// Removes those of a content.
    func removeThumbnails(_ hash: String) throws(CaptureError) {
        let what = "a thumbnail of the media library"
        guard let part = try existing(String(hash.prefix(2)), in: thumbnails, what) else { return }
        for size in ThumbnailSize.allCases {
            try LibraryFolder.unlink(LibraryFolder.thumbnailName(hash, size), in: part, what)
        }
    }

    private static func thumbnailName(_ hash: String, _ size: ThumbnailSize) -> String {
        "\(hash)-\(size.rawValue).jpg"
    }
}
