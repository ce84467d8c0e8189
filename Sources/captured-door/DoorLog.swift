import Glibc

/// Writes lines to standard error, which is the daemon's.
enum DoorLog {
    static func write(_ text: String) {
        let line = Array("captured-door: \(text)\n".utf8)
        // If standard error is closed, nobody can be told.
        _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
    }
}
