import CLinux
import Glibc

/// A file that is in memory alone and has no name: memfd_create(2). Thread-safe.
public struct MemoryFile: Sendable {
    /// The open file, for reading and writing.
    public let descriptor: Descriptor

    /// An empty file.
    ///
    /// - Parameter name: What the kernel lists it by.
    public init(_ name: String) throws(SystemError) {
        descriptor = Descriptor(owning: try SystemError.check("memfd_create") { unsafe clinux_memfd(name) })
        let descriptor = descriptor
        try SystemError.check("set a memfd's mode") { fchmod(descriptor.descriptor, 0o600) }
    }

    /// All that is in it.
    public func contents() throws(SystemError) -> [UInt8] {
        var status = stat()
        try SystemError.check("look at a memfd") { unsafe fstat(descriptor.descriptor, &status) }
        return try descriptor.bytes(at: 0, count: Int(status.st_size), "memfd")
    }
}
