public import CaptureCore
import CLinux
import Glibc

/// A file descriptor that is closed when the last reference goes.
///
/// Thread-safe: the number never changes. Who needs it to stay open keeps the object.
public final class Descriptor: OpenFile {
    /// The descriptor's number.
    public let descriptor: Int32

    /// Takes over a descriptor that is open and belongs to nobody else.
    public init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Opens a path, always close-on-exec: open(2).
    ///
    /// - Throws: The system's error, named by `errno`.
    public static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        Descriptor(owning: try SystemError.check("open \(path)") { unsafe clinux_open(path, flags, mode) })
    }

    /// Both ends of a pipe, close-on-exec: pipe2(2).
    public static func pipe() throws(SystemError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        try SystemError.check("make a pipe") { unsafe clinux_pipe(&ends) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Which regular file it is, by fstat(2); `nil` for anything else.
    public var identity: FileIdentity? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Another descriptor for the same open file: fcntl(2) `F_DUPFD_CLOEXEC`.
    public func duplicate() throws(SystemError) -> Descriptor {
        Descriptor(owning: try SystemError.check("duplicate a descriptor") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) })
    }

    /// Reads at most as many bytes as fit: read(2), again when interrupted.
    ///
    /// - Returns: How many came; 0 at the end of the file.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try SystemError.check("read") { unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Reads to the end.
    ///
    /// - Parameter limit: The most bytes.
    /// - Returns: `nil` when there are more.
    public func readAll(limit: Int = .max) throws(SystemError) -> [UInt8]? {
        let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 16)
        defer { unsafe part.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = unsafe try read(into: part)
            if count == 0 { return bytes }
            unsafe bytes.append(contentsOf: part[..<count])
            if bytes.count > limit { return nil }
        }
    }

    /// Reads from a place on, until the memory is full or the file ends: pread(2). The file's position stays.
    ///
    /// - Parameter what: What the file is, for the message.
    /// - Returns: How many bytes came.
    public func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at place: Int64,
        _ what: @autoclosure () -> String = "file"
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try SystemError.check("read the \(what())") {
                unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(place) + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// So many bytes from a place on; fewer where the file ends.
    public func bytes(
        at place: Int64,
        count: Int,
        _ what: @autoclosure () -> String = "file"
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let came = try unsafe bytes.withUnsafeMutableBufferPointer { (memory) throws(SystemError) in
            try unsafe read(into: UnsafeMutableRawBufferPointer(memory), at: place, what())
        }
        bytes.removeLast(count - came)
        return bytes
    }

    /// Writes every byte: write(2), as often as it takes.
    public func write(all bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try SystemError.check("write") { unsafe Glibc.write(descriptor, rest.baseAddress, rest.count) }
        }
    }

    /// The same for the bytes of an array.
    public func write(all bytes: [UInt8]) throws(SystemError) {
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try unsafe write(all: UnsafeRawBufferPointer(bytes))
        }
    }
}
