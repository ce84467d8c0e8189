import CaptureSystem
import Glibc
import Testing

/// A hostile reader in a process of its own: runs `attack_ring.py` beside this file.
@safe final class Attacker {
    /// A user who owns nothing.
    static let nobody: UInt32 = 65534

    private let output: UnsafeMutablePointer<FILE>

    /// Starts it.
    ///
    /// - Parameters:
    ///   - ring: The ring's descriptor.
    ///   - user: The user to run as; only root can start it as another user.
    ///   - what: Its second argument.
    init(_ ring: Descriptor, user: UInt32, _ what: String) throws {
        let folder = String(#filePath.prefix(upTo: try #require(#filePath.lastIndex(of: "/"))))
        // Without close-on-exec, and with a number that is surely free.
        let given = fcntl(ring.descriptor, F_DUPFD, 100)
        try #require(given >= 100)
        defer { close(given) }
        // The script comes over standard input, because that user may not be able to read this tree.
        let become = user == geteuid() ? "" : "setpriv --reuid \(user) --regid \(user) --clear-groups "
        // For the same reason, without the tester's PATH.
        let command = "PATH=/usr/bin:/bin; exec \(become)python3 - \(given) \(what) < '\(folder)/attack_ring.py'"
        unsafe output = try #require(popen(command, "re"))
    }

    deinit { unsafe pclose(output) }

    /// The next line that it prints; `nil` at the end.
    func line() -> Substring? {
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, Int32(line.count), output) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.dropLast()
    }

    /// The results of its attempts, by name.
    func results() -> [Substring: Substring] {
        var results: [Substring: Substring] = [:]
        while let line = line() {
            let words = line.split(separator: " ")
            if words.count == 2 { results[words[0]] = words[1] }
        }
        return results
    }
}
