import CaptureCore
import CaptureSystem
import Glibc

/// Reads parts of files that come from anybody, at any place of theirs.
enum FilePart {
    /// The size of a regular file.
    ///
    /// - Parameter what: What is taken out of it, for the message.
    static func size(of file: Descriptor, _ what: String) throws(CaptureError) -> Int64 {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CaptureError(.inputOutput, "\(what) can be taken out of a regular file alone")
        }
        return Int64(status.st_size)
    }

    /// So many bytes from a place on; fewer where the file ends. Its position stays.
    ///
    /// - Parameter what: What the file is, for the message.
    static func read(_ file: Descriptor, _ place: Int64, _ count: Int, _ what: String) throws(CaptureError) -> [UInt8] {
        try CaptureError.wrap(.inputOutput, try file.bytes(at: place, count: count, what))
    }
}
