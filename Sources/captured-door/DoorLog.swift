import Glibc

/// Lines on standard error, which is the daemon's.
enum DoorLog {
    static func write(_ text: String) {
        let line = Array("captured-door: \(text)\n".utf8)
        // Standard error is the last resort: if it is closed there is nobody left to tell.
        _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
    }
}
