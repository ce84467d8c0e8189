import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Reads what `/proc` and systemd say about one pinned process. Blocks for some file reads.
struct ProcessLook {
    let pid: Int32
    let process: Descriptor

    /// The fields of `/proc/PID/stat` that matter.
    struct Status: Equatable {
        var state: Character
        var parent: Int32
        var processGroup: Int32
        var terminal: UInt32
        var foregroundGroup: Int32
        var startTime: UInt64
    }

    /// Pins a process: pidfd_open(2).
    static func pin(_ pid: Int32) throws(CaptureError) -> Descriptor {
        do throws(SystemError) {
            return Descriptor(owning: try SystemError.check("pidfd_open") { clinux_pidfd_open(pid) })
        } catch {
            throw refusal("process \(pid) cannot be pinned (\(error))")
        }
    }

    /// The number of the process behind a pidfd; `nil` when it is gone or in another pid namespace.
    static func pid(of process: Descriptor) -> Int32? {
        let text = Files.text(of: "/proc/self/fdinfo/\(process.descriptor)", limit: 1 << 16)
        for line in text?.split(separator: "\n") ?? [] where line.hasPrefix("Pid:") {
            let number = line.dropFirst(4).drop { $0 == "\t" || $0 == " " }
            return Int32(number).flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    static func refusal(_ why: String) -> CaptureError {
        CaptureError(.notPermitted, "the calling program cannot be identified: \(why)")
    }

    /// Whether the process still lives.
    var isAlive: Bool { clinux_pidfd_alive(process.descriptor) == 1 }

    func status() throws(CaptureError) -> Status {
        guard let text = Files.text(of: "/proc/\(pid)/stat", limit: 1 << 16),
            let status = Status(text)
        else { throw ProcessLook.refusal("/proc/\(pid)/stat cannot be read") }
        // A zombie has neither a program nor a future, and its pidfd says so too.
        guard !"ZXx".contains(status.state) else { throw ProcessLook.refusal("process \(pid) has ended") }
        return status
    }

    func executable() throws(CaptureError) -> PeerExecutable {
        let link = "/proc/\(pid)/exe"
        var status = clinux_file()
        // As the kernel knows it: the file may lie where its server does not answer.
        guard var path = Files.link(at: link), unsafe clinux_known_file(AT_FDCWD, link, &status) == 0 else {
            throw ProcessLook.refusal("\(link) cannot be read (\(SystemError.text(of: errno)))")
        }
        func leadsHere(_ path: String) -> Bool {
            var there = stat()
            return unsafe stat(path, &there) == 0 && UInt64(there.st_dev) == status.device
                && UInt64(there.st_ino) == status.inode
        }
        // The kernel marks a name that is gone so; other links to the file may still be there, and a file may be named
        // like this.
        let deleted = " (deleted)"
        let isMarked = path.hasSuffix(deleted) && !leadsHere(path)
        if isMarked { path.removeLast(deleted.count) }
        guard path.hasPrefix("/"), status.mode & S_IFMT == S_IFREG else {
            throw ProcessLook.refusal("\(link) leads to no file")
        }
        return PeerExecutable(
            path: path,
            device: status.device,
            inode: status.inode,
            changed: status.changed,
            isDeleted: isMarked || status.links == 0
        )
    }

    /// The root that the process sees.
    func root() throws(CaptureError) -> ProgramRoot {
        do throws(SystemError) {
            return try ProgramRoot(of: pid)
        } catch {
            throw ProcessLook.refusal("/proc/\(pid)/root cannot be opened (\(SystemError.text(of: error.errno)))")
        }
    }

    /// Flatpak makes it a file of the root itself; a link would be somebody else's.
    func flatpakInfo(below root: ProgramRoot) -> ForeignFile {
        root.read(".flatpak-info", followsLinks: false, limit: 1 << 16)
    }
}

extension ProcessLook.Status {
    /// Reads proc(5) `stat`. The program's name stands in parentheses and may hold any character, so fields are counted
    /// from the last one.
    init?(_ text: String) {
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count >= 20, let state = fields[0].first, let parent = Int32(fields[1]),
            let processGroup = Int32(fields[2]), let terminal = Int32(fields[4]), let foreground = Int32(fields[5]),
            let startTime = UInt64(fields[19])
        else { return nil }
        self.init(
            state: state,
            parent: parent,
            processGroup: processGroup,
            terminal: UInt32(bitPattern: terminal),
            foregroundGroup: foreground,
            startTime: startTime
        )
    }
}
