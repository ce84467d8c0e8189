import Authorization
import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Who types on the terminal of a process: those that hold its other end, and those that started it.
///
/// A person's terminal is held by a terminal emulator, or by what brings a person in from elsewhere. A program that wants to
/// answer in a person's place has to hold the other end itself, or to leave that to another program.
struct TerminalDrivers: Sendable {
    /// A process that drives another.
    struct Driver: Hashable, Sendable {
        var pid: Int32
        /// Whom it runs as.
        var user: UInt32
        /// The file that it runs; empty where it cannot be told.
        var path: String
        var device: UInt64
        var inode: UInt64

        /// Whether it is the program that asks. What an interpreter's file runs is not told by the file, so there the
        /// process alone counts.
        func isProgram(of client: ClientIdentity) -> Bool {
            if pid == client.pid { return true }
            guard let file = client.running, inode != 0, !client.runsInterpreter else { return false }
            return device == file.device && inode == file.inode
        }
    }

    /// A process that holds the other end of a terminal and could be anybody's: it runs a file that others than root may
    /// write, or code that it is handed.
    ///
    /// - Parameter root: Where programs' files are looked for.
    /// - Throws: `.notPermitted` when the process cannot be looked at.
    func stranger(holdingTerminalOf pid: Int32, below root: SystemRoot) async throws(CaptureError) -> Driver? {
        try await WorkerThread.run("find-drivers") { () throws(CaptureError) -> Driver? in
            guard let number = try status(of: pid).terminalNumber else { return nil }
            return Self.stranger(below: root) { holders(of: number).map(driver) }
        }
    }

    /// The first process of a look that could be anybody's. One that has just ended has no path, but no longer holds the
    /// terminal either, so there is another look. The eighth look counts, whatever it finds.
    static func stranger(below root: SystemRoot, among look: () -> [Driver]) -> Driver? {
        var stranger: Driver?
        for _ in 1...8 {
            stranger = look().first { $0.couldBeAnybodys(below: root) }
            if stranger?.path.isEmpty != true { break }
        }
        return stranger
    }

    /// Where processes are looked at.
    var processes = "/proc"

    /// Looks at every process of the machine, on a thread of its own.
    ///
    /// - Throws: `.notPermitted` when the process cannot be looked at.
    func drivers(of pid: Int32) async throws(CaptureError) -> [Driver] {
        try await WorkerThread.run("find-drivers") { () throws(CaptureError) in try find(pid) }
    }

    func find(_ pid: Int32) throws(CaptureError) -> [Driver] {
        let own = try status(of: pid)
        var found: [Int32] = []
        var parent = own.parent
        // A process has few above it; a number that was given anew meanwhile cannot make a circle that never ends.
        while parent > 1, found.count < 64, !found.contains(parent), let next = try? status(of: parent) {
            found.append(parent)
            parent = next.parent
        }
        if let number = own.terminalNumber { found += holders(of: number).filter { !found.contains($0) } }
        return found.map(driver)
    }

    private func driver(_ pid: Int32) -> Driver {
        let link = "\(processes)/\(pid)/exe"
        var file = clinux_file()
        let isThere = unsafe clinux_known_file(AT_FDCWD, link, &file) == 0
        return Driver(
            pid: pid,
            user: user(of: pid) ?? .max,
            path: Files.link(at: link) ?? "",
            device: isThere ? file.device : 0,
            inode: isThere ? file.inode : 0
        )
    }

    /// The processes that hold the other end of a pseudo-terminal.
    private func holders(of number: UInt32) -> [Int32] {
        Files.names(in: processes).compactMap { Int32($0) }.sorted().filter { pid in
            DescriptorTables.folders(of: pid, in: processes).contains { folder in
                Files.names(in: folder).contains { name in
                    guard Files.link(at: "\(folder)/\(name)")?.hasSuffix("ptmx") == true,
                        let text = Files.line(of: "\(folder)info/\(name)")
                    else { return false }
                    return text.split(separator: "\n").contains { line in
                        let words = line.split { $0.isWhitespace }
                        return words.count == 2 && words[0] == "tty-index:" && words[1] == "\(number)"
                    }
                }
            }
        }
    }

    /// By its own word in `/proc/PID/status`: the folder's owner is root where the process may not be dumped.
    private func user(of pid: Int32) -> UInt32? {
        guard let text = Files.line(of: "\(processes)/\(pid)/status"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Uid:") })
        else { return nil }
        // The real and the effective one: who may become somebody else by either is that user.
        let words = line.split { $0.isWhitespace }.dropFirst().prefix(2).map { UInt32($0) }
        return words.count == 2 && words.first == words.last ? words[0] : nil
    }

    private func status(of pid: Int32) throws(CaptureError) -> ProcessLook.Status {
        guard let status = Files.line(of: "\(processes)/\(pid)/stat").flatMap(ProcessLook.Status.init) else {
            throw CaptureError(.notPermitted, "process \(pid) cannot be looked at")
        }
        return status
    }
}

extension ProcessLook.Status {
    /// The number of its terminal below /dev/pts; `nil` where it has none of that kind.
    fileprivate var terminalNumber: UInt32? {
        let isPseudo = (terminal >> 8) & 0xfff == 136
        return isPseudo ? (terminal & 0xff) | ((terminal >> 12) & 0xfff00) : nil
    }
}

extension TerminalDrivers.Driver {
    /// Whether anything of its user's could be behind it.
    fileprivate func couldBeAnybodys(below root: SystemRoot) -> Bool {
        // Root could be anybody anyway, as could the daemon's own user where it serves that one's session.
        if user == 0 || user == geteuid() { return false }
        guard let file = ExecutableFile.inspect(root.path(of: path), below: root.prefix), file.isProtected else {
            return true
        }
        return file.device != device || file.inode != inode || file.isInterpreter
    }
}
