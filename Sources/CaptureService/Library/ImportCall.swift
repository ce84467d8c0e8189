import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// One job of a process for the media library: the pipe through which bytes come, and the answer.
///
/// Bound to the thread that works on it, but for `cancel` and `isCancelled`.
final class ImportCall: Sendable {
    /// Why a call whose task was cancelled failed.
    static let cancelled = CaptureError(.dismissed, "the import was cancelled, and nothing was added to the library")

    /// Bytes at a time, and in the pipe.
    private static let chunk = 1 << 20

    private let process: RecorderProcess
    private let pipe: Descriptor
    /// The pipe's writing end, until the process gets it.
    private let writing: Mutex<Descriptor?>
    private let wasCancelled = Atomic(false)
    private let hasEnded = Atomic(false)

    /// Starts the process.
    init(_ origin: RecorderOrigin) throws(CaptureError) {
        do throws(SystemError) {
            let end: Descriptor
            (pipe, end) = try Descriptor.pipe()
            writing = Mutex(end)
            clinux_enlarge_pipe(pipe.descriptor, Int32(ImportCall.chunk))
            process = try RecorderProcess.start(origin)
        } catch {
            throw CaptureError(.recorderLost, "cannot start a process to import: \(error)", errno: error.errno)
        }
    }

    /// Gives the process its job, once.
    func hand(_ job: RecorderJob, _ file: any JobFile) async throws(CaptureError) {
        // After sending, only the process holds the writing end, so the pipe ends with the process.
        guard let end = writing.withLock({ $0.take() }) else {
            throw CaptureError(.internalFault, "an import process got a second job")
        }
        try await file.hand(job.text, over: process.socket, with: [end])
    }

    /// Whether `cancel` was called.
    var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }

    /// Lets the process end, and so the thread that waits for it. Thread-safe.
    func cancel() {
        wasCancelled.store(true, ordering: .releasing)
        process.disconnect()
    }

    /// Reads the pipe to its end.
    ///
    /// - Parameters:
    ///   - patience: Milliseconds that may pass without a byte; the time that `take` takes does not count.
    ///   - late: What is wrong when more pass.
    ///   - take: What becomes of the bytes.
    func read(
        patience: Int32,
        late: @autoclosure () -> String,
        _ take: (UnsafeRawBufferPointer) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: ImportCall.chunk, alignment: 4096)
        defer { unsafe memory.deallocate() }
        while true {
            let count: Int
            do throws(SystemError) {
                guard try !Poll.wait(pipe.descriptor, timeout: patience).isEmpty else {
                    throw SystemError("", errno: ETIMEDOUT)
                }
                count = try unsafe pipe.read(into: memory)
            } catch {
                guard error.errno == ETIMEDOUT else { throw CaptureError(.inputOutput, error) }
                throw CaptureError(.timedOut, late(), errno: ETIMEDOUT)
            }
            if count == 0 { return }
            try unsafe take(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        }
    }

    /// The answer of the process, once the pipe has ended.
    ///
    /// - Throws: What it says went wrong, and `recorderLost` when it ended without a word.
    func report(patience: Int32) throws(CaptureError) -> ImportReport {
        let message: (text: String, files: [Descriptor])?
        do throws(SystemError) {
            let isThere = try !Poll.wait(process.socket.file.descriptor, timeout: patience).isEmpty
            message = isThere ? try process.socket.receive() : nil
        } catch {
            throw CaptureError(.recorderLost, error)
        }
        guard let message else {
            throw Importers.lost("ended without an answer, as it does when a file takes too much memory or time")
        }
        let report = try ImportReport(text: message.text)
        if case .failed(let error) = report { throw error }
        return report
    }

    deinit {
        // Of a call that no thread was there for.
        end()
    }

    /// Ends the call, and the process if it has not ended by itself; when the thread is done with it.
    func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        process.kill()
        process.reap()
    }
}
