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
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        do throws(SystemError) {
            while done < count {
                let came = try unsafe bytes.withUnsafeMutableBufferPointer { (memory) throws(SystemError) in
                    try SystemError.check("read the \(what)") {
                        unsafe pread(
                            file.descriptor,
                            memory.baseAddress.map { unsafe $0 + done },
                            count - done,
                            off_t(place) + off_t(done)
                        )
                    }
                }
                if came == 0 { break }
                done += came
            }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        bytes.removeLast(count - done)
        return bytes
    }
}
