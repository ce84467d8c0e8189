import CaptureSystem

/// The file that a process runs.
struct PeerExecutable: Hashable, Sendable {
    /// Where `/proc/PID/exe` points, without the kernel's ` (deleted)`.
    var path: String
    /// The device it lies on (`st_dev`).
    var device: UInt64
    /// Its inode there (`st_ino`).
    var inode: UInt64
    /// When its content or its properties last changed (`st_ctim`), in nanoseconds since 1970.
    var changed: Int64
    /// Whether no name leads to it any more.
    var isDeleted: Bool
}

/// What the bus and the kernel say about whom a connection belongs to. Nothing in it comes from the peer's own words.
///
/// Only uid, gids and LSM label cannot be forged by a program of the same user; the rest is true of the process that
/// was looked at. A value; the pidfd in it stays open as long as a copy is there.
struct PeerFacts: Hashable, Sendable {
    /// The uid it connected as.
    var user: UInt32
    /// The gids it connected as.
    var groups: [UInt32]
    /// The process that connected.
    var pid: Int32
    /// Pins the process: its number is not given to another one unnoticed.
    var process: Descriptor
    /// Whether the bus itself held the pidfd; else the process was found by its number, to be shown as 'by pid'.
    var viaProcessFD: Bool
    /// The file that it runs.
    var executable: PeerExecutable
    /// What lies at `/.flatpak-info` of its own root, where Flatpak says which application is in the sandbox.
    var flatpakInfo: ForeignFile
    /// Whether its root is another than this process's.
    var hasOwnRoot: Bool
    /// The system unit it is in.
    var unit: String?
    /// The unit of the user's own service manager it is in.
    var userUnit: String?
    /// The login session it is in.
    var session: String?
    /// The device number of its controlling terminal, 0 for none.
    var terminal: UInt32
    /// Whether its process group is the one in the foreground of its terminal.
    var isForeground: Bool
    /// When it started, in clock ticks since boot.
    var startTime: UInt64
    /// Its label of the Linux security module, without the NUL.
    var securityLabel: String?
}
