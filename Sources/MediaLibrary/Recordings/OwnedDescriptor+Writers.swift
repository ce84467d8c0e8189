import Glibc

extension OwnedDescriptor {
    /// Sets a lease, by fcntl(2); glibc shows it to GNU programs alone, and it is the same on every architecture of Linux.
    private static let setLease: Int32 = 1024

    /// Whether the file is open for writing anywhere; of a file that is open here for reading alone.
    ///
    /// A lease for reading is given when nobody can write. A file system that has no leases is taken at its word: nothing
    /// else tells.
    var hasWriters: Bool { OwnedDescriptor.hasWriters(number) }

    /// The same of any descriptor that is open for reading alone.
    static func hasWriters(_ number: Int32) -> Bool {
        if fcntl(number, setLease, F_RDLCK) == 0 {
            _ = fcntl(number, setLease, F_UNLCK)
            return false
        }
        return errno == EAGAIN
    }
}
