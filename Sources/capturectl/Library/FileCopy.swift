import CaptureKit
import CaptureSystem
import Glibc

/// Copies contents that are open, and tells what they are.
enum FileCopy {
    /// Copies everything from a file's beginning to its end.
    ///
    /// - Parameters:
    ///   - source: Open for reading; its position moves.
    ///   - target: `nil` to look at the content alone.
    /// - Returns: The SHA-256 of it in hexadecimal digits.
    /// - Throws: `inputOutput` when reading or writing fails, as on a full disk.
    static func copy(_ source: Descriptor, to target: Descriptor?) throws(CaptureError) -> String {
        // A pipe has no beginning to go back to.
        _ = lseek(source.descriptor, 0, SEEK_SET)
        var hash = try FileHash()
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count: Int
            do {
                count = unsafe try bytes.withUnsafeMutableBytes { unsafe try source.read(into: $0) }
            } catch {
                throw CaptureError(.inputOutput, "the content cannot be read: \(error)")
            }
            if count == 0 { return try hash.digits() }
            try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
                let piece = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))
                try unsafe hash.add(piece)
                if let target { try unsafe write(piece, to: target) }
            }
        }
    }

    /// Writes bytes.
    ///
    /// - Throws: `inputOutput` with the system's error number, as of a full disk.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(CaptureError) {
        do {
            unsafe try file.write(all: bytes)
        } catch {
            throw CaptureError(.inputOutput, "the file cannot be written: \(error)", errno: error.errno)
        }
    }

    /// The SHA-256 of the regular file at a path; `nil` when there is none, or it cannot be read.
    static func hash(of path: String) -> String? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK), file.identity != nil else {
            return nil
        }
        return try? copy(file, to: nil)
    }

    /// Has what was written to an open file or folder on the disk.
    static func sync(_ file: Descriptor, _ path: String) throws(CaptureError) {
        while fsync(file.descriptor) != 0 {
            guard errno != EINTR else { continue }
            throw failure(path, "cannot be written to the disk")
        }
    }

    /// The last system call's error about a path.
    static func failure(_ path: String, _ what: String) -> CaptureError {
        let code = errno
        return CaptureError(
            .inputOutput,
            "\(Printable.text(path, limit: 1000)) \(what): \(SystemError.text(of: code))",
            errno: code
        )
    }
}
