import Authorization
import CaptureCore
import CaptureSystem
import Glibc

/// Who types on the terminal of a process: those that hold its other end, and those that started it.
///
/// A person's terminal is held by a terminal emulator. A program that wants to answer its own question through the shipped
/// agent has to hold the other end itself, or to leave that to another program: then it is another's answer.
struct TerminalDrivers: Sendable {
    /// A process that drives another.
    struct Driver: Hashable, Sendable {
        var pid: Int32
        /// The file that it runs; empty where it cannot be told.
        var path: String
        var device: UInt64
        var inode: UInt64

        /// Whether it is the program that asks. What an interpreter's file runs is not told by the file, so there the
        /// process alone counts.
        func isProgram(of client: ClientIdentity) -> Bool {
            if pid == client.pid { return true }
            guard let file = client.executable, inode != 0, !client.runsInterpreter else { return false }
            return device == file.device && inode == file.inode
        }
    }

    /// Where processes are looked at.
    var processes = "/proc"

    /// Looks at every process of the machine, on a thread of its own.
    ///
    /// - Throws: `.notPermitted` when the process cannot be looked at.
    func drivers(of pid: Int32) async throws(CaptureError) -> [Driver] {
        try await WorkerThread.run("find-drivers") { find(pid) }
    }

    func find(_ pid: Int32) -> Result<[Driver], CaptureError> {
        guard let own = status(of: pid) else {
            return .failure(CaptureError(.notPermitted, "process \(pid) cannot be looked at"))
        }
        var found: [Int32] = []
        var parent = own.parent
        // A process has few above it; a number that was given anew meanwhile cannot make a circle that never ends.
        while parent > 1, found.count < 64, !found.contains(parent), let next = status(of: parent) {
            found.append(parent)
            parent = next.parent
        }
        if let number = own.terminalNumber { found += holders(of: number).filter { !found.contains($0) } }
        return .success(found.map(driver))
    }

    private func driver(_ pid: Int32) -> Driver {
        let link = "\(processes)/\(pid)/exe"
        var file = stat()
        let isThere = unsafe stat(link, &file) == 0
        return Driver(
            pid: pid,
            path: Files.link(at: link) ?? "",
            device: isThere ? UInt64(file.st_dev) : 0,
            inode: isThere ? UInt64(file.st_ino) : 0
        )
    }

    /// The processes that hold the other end of a pseudo-terminal.
    private func holders(of number: UInt32) -> [Int32] {
        Files.names(in: processes).compactMap { Int32($0) }.sorted().filter { pid in
            Files.names(in: "\(processes)/\(pid)/fd").contains { name in
                guard Files.link(at: "\(processes)/\(pid)/fd/\(name)")?.hasSuffix("ptmx") == true,
                    let text = Files.line(of: "\(processes)/\(pid)/fdinfo/\(name)")
                else { return false }
                return text.split(separator: "\n").contains { line in
                    let words = line.split { $0.isWhitespace }
                    return words.count == 2 && words[0] == "tty-index:" && words[1] == "\(number)"
                }
            }
        }
    }

    private struct Status {
        var parent: Int32
        /// The number of its terminal below /dev/pts; `nil` where it has none of that kind.
        var terminalNumber: UInt32?
    }

    /// proc(5) `stat`: its program's name stands in parentheses and may hold any character.
    private func status(of pid: Int32) -> Status? {
        guard let text = Files.line(of: "\(processes)/\(pid)/stat"),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 4, let parent = Int32(fields[1]), let terminal = Int32(fields[4]) else { return nil }
        let device = UInt32(bitPattern: terminal)
        let isPseudo = (device >> 8) & 0xfff == 136
        return Status(parent: parent, terminalNumber: isPseudo ? (device & 0xff) | ((device >> 12) & 0xfff00) : nil)
    }
}
