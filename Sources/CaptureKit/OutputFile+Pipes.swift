public import CaptureCore
import CaptureSystem
import Glibc

extension OutputFile {
    /// Opens a file as `init(creating:overwrite:)` does. If open(2) would wait for the reader of a named pipe, no
    /// thread is blocked meanwhile.
    ///
    /// - Parameters:
    ///   - path: Where the file is to be.
    ///   - overwrite: Whether a file that is there may be replaced.
    ///   - waiting: Called several times a second for as long as a pipe has no reader; what it throws ends the wait.
    /// - Throws: As the initializer; what `waiting` throws; `CaptureError.Code.dismissed` when the task is cancelled
    ///   while it waits.
    public static func open(
        _ path: String,
        overwrite: Bool = false,
        waiting: () throws(CaptureError) -> Void = {}
    ) async throws(CaptureError) -> OutputFile {
        while kind(of: path) == S_IFIFO {
            if let pipe = try pipe(at: path) { return OutputFile(path, opened: pipe) }
            try waiting()
            do {
                try await Task.sleep(for: .milliseconds(50))
            } catch {
                throw CaptureError(.dismissed, "the wait for a reader of \(Printable.text(path)) was cancelled")
            }
        }
        return try OutputFile(creating: path, overwrite: overwrite)
    }

    /// A pipe open for writing; `nil` while nobody reads it.
    private static func pipe(at path: String) throws(CaptureError) -> Descriptor? {
        let pipe: Descriptor
        do {
            pipe = try open(path, O_WRONLY | O_NONBLOCK)
        } catch {
            if error.errno == ENXIO { return nil }
            throw error
        }
        // Whoever writes waits for a reader that is slow: the flag was for the opening alone.
        let flags = fcntl(pipe.descriptor, F_GETFL)
        guard flags >= 0, fcntl(pipe.descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
            throw CaptureError(.inputOutput, "\(Printable.text(path)) cannot be written to", errno: Glibc.errno)
        }
        return pipe
    }
}
