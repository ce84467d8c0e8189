import Glibc

/// Lines for standard error, which the journal keeps for a service. Reentrant.
public enum StandardError {
    /// Writes a line. Nobody is left to be told that standard error is closed.
    public static func write(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
    }
}
