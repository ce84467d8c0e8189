import CLinux
import Glibc

/// A mapping of a memfd: writable for the one who made it, read-only for whom it is handed.
///
/// Thread-safe as a handle; what is read and written in it is the user's affair.
public final class SharedMemory: Sendable {
    /// The memfd, opened read-only.
    public let file: Descriptor
    /// Bytes of the mapping.
    public let size: Int
    private let address: UInt
    /// Whether this mapping can be written.
    public let isWritable: Bool

    /// Makes a memfd of `size` bytes, maps it writable, then seals it: its size is fixed, and nobody can map it
    /// writable again, not even the maker (`F_SEAL_FUTURE_WRITE`, memfd_create(2)).
    ///
    /// `file` is a separate read-only open of the memfd, whose mode is 0600. A new memfd has mode 0777, so every holder
    /// could open it for writing in `/proc/self/fd`. Seals protect the bytes, but a writable descriptor could still
    /// page them out.
    ///
    /// - Parameters:
    ///   - name: Shown in `/proc/PID/maps`.
    ///   - size: Bytes; rounded up to whole pages.
    public init(creating name: String, size: Int) throws(SystemError) {
        let rounded = SharedMemory.pages(size)
        let file = Descriptor(owning: try SystemError.check("memfd_create") { unsafe clinux_memfd(name) })
        try SystemError.check("size a memfd to \(rounded) bytes") { ftruncate(file.descriptor, off_t(rounded)) }
        try SystemError.check("set a memfd's mode") { fchmod(file.descriptor, 0o600) }
        address = try SharedMemory.map(file, size: rounded, protection: PROT_READ | PROT_WRITE)
        do {
            try SystemError.check("seal a memfd") { clinux_add_seals(file.descriptor, clinux_ring_seals) }
            self.file = try Descriptor.open("/proc/self/fd/\(file.descriptor)", O_RDONLY)
        } catch {
            unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), rounded)
            throw error
        }
        self.size = rounded
        isWritable = true
    }

    /// Maps a memfd that was handed over, read-only.
    ///
    /// - Throws: EPERM when it is not sealed against shrinking: its owner could make reads fault.
    public init(mapping file: Descriptor) throws(SystemError) {
        let seals = try SystemError.check("read a memfd's seals") { clinux_get_seals(file.descriptor) }
        guard seals & clinux_ring_seals == clinux_ring_seals else {
            throw SystemError("map a ring that is not sealed", errno: EPERM)
        }
        var status = stat()
        _ = try SystemError.check("stat a memfd") { unsafe fstat(file.descriptor, &status) }
        guard status.st_size > 0 else { throw SystemError("map an empty ring", errno: EINVAL) }
        size = Int(status.st_size)
        address = try SharedMemory.map(file, size: size, protection: PROT_READ)
        self.file = file
        isWritable = false
    }

    deinit {
        unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), size)
    }

    /// The mapping's bytes. Writing to them when `isWritable` is false faults.
    public var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: size)
    }

    /// Bytes rounded up to whole pages.
    public static func pages(_ size: Int) -> Int {
        let page = sysconf(Int32(_SC_PAGESIZE))
        return (size + page - 1) / page * page
    }

    private static func map(_ file: Descriptor, size: Int, protection: Int32) throws(SystemError) -> UInt {
        let address = unsafe mmap(nil, size, protection, MAP_SHARED, file.descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw SystemError("map \(size) bytes", errno: errno)
        }
        return UInt(bitPattern: address)
    }
}
