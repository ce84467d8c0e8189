import Glibc
import Synchronization

/// Where things are said: data on standard output, everything else on standard error.
enum Output {
    /// Why facts could not be written to standard output; 0 while they could.
    static let lostFacts = Atomic<Int32>(0)

    /// Data, with a line end.
    static func print(_ text: String) {
        write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n", to: STDOUT_FILENO)
    }

    /// Facts as JSON.
    static func print(_ json: JSON) {
        print(json.pretty)
    }

    /// A message under the program's name.
    static func message(_ text: String) {
        note("capturectl: " + text)
    }

    /// A message.
    static func note(_ text: String) {
        write(text.hasSuffix("\n") ? text : text + "\n", to: STDERR_FILENO)
    }

    /// Text as it is, without a line end.
    static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if count < 0, errno == EINTR { continue }
                if count <= 0 {
                    // A reader that left, as `head` does, wants no more; facts that reach nobody are a fault.
                    if descriptor == STDOUT_FILENO, errno != EPIPE { lostFacts.store(errno, ordering: .relaxed) }
                    return
                }
                done += count
            }
        }
    }
}

/// The process's environment.
enum Environment {
    static func value(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
