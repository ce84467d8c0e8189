import CaptureSystem
import Glibc
import Testing

/// A reader that does harm, as a process of its own: `attack_ring.py` beside this file.
@safe final class Attacker {
    /// A user who owns nothing.
    static let nobody: UInt32 = 65534

    private let output: UnsafeMutablePointer<FILE>

    /// Starts it.
    ///
    /// - Parameters:
    ///   - ring: What it is handed.
    ///   - user: Whose process it is; one of another user can be started by root alone.
    ///   - what: Its second argument.
    init(_ ring: Descriptor, user: UInt32, _ what: String) throws {
        let folder = String(#filePath.prefix(upTo: try #require(#filePath.lastIndex(of: "/"))))
        // Without close-on-exec, and high enough to be nobody else's.
        let given = fcntl(ring.descriptor, F_DUPFD, 100)
        try #require(given >= 100)
        defer { close(given) }
        // The script by standard input: that user need not be able to read this tree.
        let become = user == geteuid() ? "" : "setpriv --reuid \(user) --regid \(user) --clear-groups "
        // Nor what the tester's own PATH begins with.
        let command = "PATH=/usr/bin:/bin; exec \(become)python3 - \(given) \(what) < '\(folder)/attack_ring.py'"
        unsafe output = try #require(popen(command, "re"))
    }

    deinit { unsafe pclose(output) }

    /// The next line that it prints; `nil` at its end.
    func line() -> Substring? {
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, Int32(line.count), output) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.dropLast()
    }

    /// What its tries came to, by name.
    func results() -> [Substring: Substring] {
        var results: [Substring: Substring] = [:]
        while let line = line() {
            let words = line.split(separator: " ")
            if words.count == 2 { results[words[0]] = words[1] }
        }
        return results
    }
}
