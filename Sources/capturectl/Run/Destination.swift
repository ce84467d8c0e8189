import CaptureKit
import Synchronization

/// The file that a command was told to write.
enum Destination {
    /// Opens it. Says so if it is a pipe without a reader; Ctrl-C ends the wait.
    static func open(_ path: String, overwrite: Bool) async throws(CaptureError) -> OutputFile {
        let flag = Flag()
        var interrupts: Interrupts?
        defer { withExtendedLifetime(interrupts) {} }
        return try await OutputFile.open(path, overwrite: overwrite) { () throws(CaptureError) in
            if interrupts == nil {
                interrupts = Interrupts { flag.isUp.store(true, ordering: .relaxed) }
                Output.message("waiting for a program to read the pipe \(Printable.text(path))")
            }
            guard flag.isUp.load(ordering: .relaxed) else { return }
            throw CaptureError(.dismissed, "interrupted before anything was captured: nobody read the pipe")
        }
    }

    private final class Flag: Sendable {
        let isUp = Atomic<Bool>(false)
    }
}
