import CLinux
import CaptureSystem
import Glibc

/// A process as it was when it was identified, for a second look that takes one system call.
///
/// The bus's word about a connection (uid, groups, label, process) is of the moment of connecting and never changes, nor is a
/// connection's name given to another; what can change at any time is the file that the process runs. A look tells that
/// this is as it was. It does not take the place of identification, which a start needs. Thread-safe.
struct PeerPin: Sendable {
    /// The process's own folder: it shows nothing any more once the process is gone, whoever has its number then.
    private let folder: Descriptor
    private let device: UInt64
    private let inode: UInt64
    private let changed: Int64

    /// Pins what identification has found; `nil` when the process is no longer that.
    init?(_ facts: PeerFacts) {
        guard let folder = try? Descriptor.open("/proc/\(facts.pid)", O_RDONLY | O_DIRECTORY) else { return nil }
        self.folder = folder
        device = facts.executable.device
        inode = facts.executable.inode
        changed = facts.executable.changed
        // It is the folder of the process that was identified if that still lives after it was opened.
        guard clinux_pidfd_alive(facts.process.descriptor) == 1, isUnchanged else { return nil }
    }

    /// Whether the process lives and runs the same file, as it was. One that only has another name by now counts as
    /// changed, too: identification tells them apart.
    ///
    /// The file is looked at as the kernel knows it: the bus thread asks this, and a program's file may lie on a file system
    /// whose server does not answer.
    var isUnchanged: Bool {
        var file = clinux_file()
        return unsafe clinux_known_file(folder.descriptor, "exe", &file) == 0 && file.device == device
            && file.inode == inode && file.changed == changed
    }
}
