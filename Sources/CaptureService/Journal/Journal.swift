import CSystemd
import CaptureCore
import CaptureSystem
import Glibc

/// Lines for the system's log, with fields that can be searched for: sd_journal_sendv(3).
///
/// Thread-safe. Where there is no journal, lines go to standard error.
enum Journal {
    /// How much a line matters, as syslog(3) has it.
    enum Priority: Int32, Sendable, CaseIterable {
        /// Capture cannot go on.
        case critical = 2
        /// Something failed.
        case error = 3
        /// Something is odd.
        case warning = 4
        /// Something of note, as a decision.
        case notice = 5
        /// The course of things.
        case info = 6
        /// For who looks for a fault.
        case debug = 7
    }

    private static let socket = "/run/systemd/journal/socket"

    /// Writes one line.
    ///
    /// - Parameters:
    ///   - message: The line. Control characters in it are data for the journal, and are escaped on standard error.
    ///   - priority: How much it matters.
    ///   - fields: Names of capital letters, digits and underscores that begin with a letter; others are left out,
    ///     since the journal would refuse the whole line.
    static func send(_ message: String, priority: Priority = .info, fields: [String: String] = [:]) {
        guard unsafe access(socket, W_OK) == 0 else { return writeToStandardError(message) }
        if !send(entries(message, priority, fields)) { writeToStandardError(message) }
    }

    /// Tells somebody on the bus. If it fails, the bus is gone, and so will be the daemon; the journal still gets to know.
    ///
    /// - Parameter what: What it does, in words that follow a "cannot".
    static func attempt(_ what: String, _ telling: () throws(CaptureError) -> Void) {
        do throws(CaptureError) {
            try telling()
        } catch {
            send("cannot \(what) on the bus: \(error)", priority: .error)
        }
    }

    static func entries(_ message: String, _ priority: Priority, _ fields: [String: String]) -> [String] {
        ["MESSAGE=\(message)", "PRIORITY=\(priority.rawValue)", "SYSLOG_IDENTIFIER=\(program)"]
            + fields.filter { isField($0.key) }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    private static func send(_ entries: [String]) -> Bool {
        let bytes = entries.map { Array($0.utf8) }
        let flat = bytes.flatMap { $0 }
        return unsafe flat.withUnsafeBytes { flat in
            guard let start = flat.baseAddress else { return true }
            var offset = 0
            var vectors: [iovec] = unsafe []
            for entry in bytes {
                let base = unsafe UnsafeMutableRawPointer(mutating: start + offset)
                unsafe vectors.append(iovec(iov_base: base, iov_len: entry.count))
                offset += entry.count
            }
            return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) >= 0
        }
    }

    static func isField(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= 64, (0x41...0x5a).contains(first) else { return false }
        return bytes.allSatisfy { (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// PR_GET_NAME would be the thread's name; this is the program's.
    private static let program = Files.line(of: "/proc/self/comm") ?? "captured"

    private static func writeToStandardError(_ message: String) {
        // Standard error is the last resort: if it is closed, nobody is left to tell.
        StandardError.write(escaped(message))
    }

    /// The line without anything that could move a terminal's cursor.
    static func escaped(_ message: String) -> String {
        message.unicodeScalars.map { character in
            character.value < 0x20 || character.value == 0x7f ? character.escaped(asASCII: true) : "\(character)"
        }.joined()
    }
}
