import CaptureCore
import Glibc

/// A file descriptor that is closed when the last reference goes. Thread-safe: the number never changes.
final class OwnedDescriptor: Sendable {
    /// The descriptor's number.
    let number: Int32

    init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Opens a file below a folder, never through a link: openat(2).
    ///
    /// - Parameters:
    ///   - what: What the file is, as in `the media library's content`, for the message.
    static func open(
        _ name: String,
        in folder: Int32,
        _ flags: Int32,
        mode: mode_t = 0o600,
        _ what: @autoclosure () -> String
    ) throws(CaptureError) -> OwnedDescriptor {
        OwnedDescriptor(
            owning: try LibraryCall.check("\(what()) cannot be opened") {
                unsafe openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode)
            }
        )
    }

    /// Another descriptor of the same open file, which its taker closes.
    func duplicate() throws(CaptureError) -> Int32 {
        try LibraryCall.check("a descriptor cannot be duplicated") { fcntl(number, F_DUPFD_CLOEXEC, 0) }
    }

    /// Writes every byte.
    func write(_ bytes: UnsafeRawBufferPointer, _ what: @autoclosure () -> String) throws(CaptureError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try LibraryCall.check("\(what()) cannot be written") {
                unsafe Glibc.write(number, rest.baseAddress, rest.count)
            }
        }
    }

    /// Writes every byte.
    func write(_ bytes: [UInt8], _ what: @autoclosure () -> String) throws(CaptureError) {
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            try unsafe write(UnsafeRawBufferPointer(bytes), what())
        }
    }

    /// Makes what was written, or a folder's names, last: fsync(2).
    func synchronize(_ what: @autoclosure () -> String) throws(CaptureError) {
        try LibraryCall.check("\(what()) cannot be written to the disk") { fsync(number) }
    }

    /// What fstat(2) says.
    func status(_ what: @autoclosure () -> String) throws(CaptureError) -> stat {
        var status = stat()
        try LibraryCall.check("\(what()) cannot be examined") { unsafe fstat(number, &status) }
        return status
    }
}

/// System calls on the library's files: made again while they are interrupted, and their failures in a sentence.
enum LibraryCall {
    /// - Parameters:
    ///   - failure: What it means when the call fails, as in `the file cannot be opened`.
    ///   - call: A call that returns -1 and sets errno when it fails.
    /// - Throws: `inputOutput`.
    @discardableResult
    static func check<Result: SignedInteger>(
        _ failure: @autoclosure () -> String,
        _ call: () -> Result
    ) throws(CaptureError) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let code = errno
            if code != EINTR { throw error(failure(), code) }
        }
    }

    /// The error for a failed call.
    static func error(_ failure: String, _ code: Int32) -> CaptureError {
        switch code {
        case ENOSPC, EDQUOT:
            CaptureError(.inputOutput, "\(failure): the disk is full; make room there", errno: code)
        default:
            unsafe CaptureError(.inputOutput, "\(failure): \(String(cString: strerror(code)))", errno: code)
        }
    }
}
