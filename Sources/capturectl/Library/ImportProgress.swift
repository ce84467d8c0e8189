import CaptureKit
import Glibc
import Synchronization

/// Waits for a file to get into the library: shows how much did, where standard error is a terminal, and has Ctrl-C
/// stop it.
enum ImportProgress {
    /// Waits for the end.
    ///
    /// - Returns: The asset's id, for who may read it; and why it is not in its album, where it is not.
    @discardableResult
    static func follow(
        _ adding: AssetImport,
        named path: String
    ) async throws(CaptureError) -> (id: MediaAsset.ID?, albumError: CaptureError?) {
        let (interruptions, feed) = AsyncStream<Void>.makeStream()
        let interrupts = Interrupts { feed.yield() }
        let canceller = Task {
            for await _ in interruptions {
                do throws(CaptureError) {
                    try await adding.cancel()
                } catch {
                    // The outcome tells of a daemon that is gone.
                    Output.message(Printable.text(error.message, limit: 1000))
                }
            }
        }
        var ticker: Ticker?
        let isShown = Atomic(false)
        if isatty(STDERR_FILENO) == 1 {
            let name = Printable.text(MediaSourceFile.name(of: path), limit: 50)
            ticker = Ticker(milliseconds: 250) {
                // Before anything is read the person may be asked on this very terminal.
                guard let progress = adding.progress, progress > 0 else { return }
                isShown.store(true, ordering: .relaxed)
                Output.write("\r\u{1B}[K" + line(progress, name), to: STDERR_FILENO)
            }
        }
        defer {
            canceller.cancel()
            withExtendedLifetime(interrupts) {}
            // Before the line is taken away, or it could be written again.
            ticker?.stop()
            if isShown.load(ordering: .relaxed) { Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
        }
        return try await adding.outcomeInAlbum()
    }

    private static func line(_ progress: Double, _ name: String) -> String {
        // Read to its end it is still being looked at and made safe on disk.
        "\(name)  \(progress == 1 ? "checking" : "\(Int(progress * 100)) %")"
    }
}
