import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc

/// How recorder processes are had.
enum RecorderOrigin: Sendable {
    /// One by one from systemd, by connecting to a socket with `Accept=yes`: each a unit of its own, which outlives
    /// the daemon.
    case socket(path: String)
    /// As children, on a session bus.
    case program(path: String)
}

extension RecorderOrigin: CustomStringConvertible {
    /// As `status` and `doctor` print it; the path comes last.
    var description: String {
        switch self {
        case .socket(let path): "units of systemd, by the socket \(path)"
        case .program(let path): "child processes of \(path)"
        }
    }
}

/// Starts recorders and hands them their jobs.
struct Recorders: RecorderLauncher {
    let origin: RecorderOrigin

    func launch(_ job: RecordingJob, file: any OpenFile, video: (any OpenFile)?, audio: (any OpenFile)?)
        async throws(CaptureError) -> any RecorderHandle
    {
        let rings = [video, audio].compactMap { $0 as? Descriptor }
        guard let file = file as? any JobFile, rings.count == [video, audio].compactMap(\.self).count else {
            throw CaptureError(.internalFault, "a recorder can be handed descriptors alone")
        }
        // A child is forked, or the service manager's socket may be full.
        let handle = RunningRecorder(
            try await WorkerThread.run("start-recorder") { [origin] in
                do throws(SystemError) {
                    return .success(try RecorderProcess.start(origin))
                } catch {
                    let why = "no recorder could be started: \(error)"
                    return .failure(CaptureError(.recorderLost, why, errno: error.errno))
                }
            }
        )
        do throws(CaptureError) {
            try await file.hand(job.text, over: handle.process.socket, with: rings)
        } catch {
            handle.abandon()
            throw error
        }
        do throws(SystemError) {
            try handle.listen(name: job.output.name)
            return handle
        } catch {
            handle.abandon()
            throw CaptureError(.recorderLost, "no recorder could be listened to: \(error)", errno: error.errno)
        }
    }
}

/// A recorder at work: its connection, and a thread that reads what it reports.
private final class RunningRecorder: RecorderHandle {
    let process: RecorderProcess
    let reports: AsyncStream<RecorderReport>
    private let continuation: AsyncStream<RecorderReport>.Continuation

    init(_ process: RecorderProcess) {
        self.process = process
        // Minutes of honest reports; of a flood the newest, in which its end is.
        (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    /// Ends a recorder that got no job.
    func abandon() {
        process.kill()
        do throws(SystemError) {
            try WorkerThread.detached(name: "rec-reap") { [process] in process.reap() }
        } catch {
            // One zombie more, until the daemon ends; there is no thread to be had for it.
            Journal.send("a recorder that got no job is not reaped: \(error)", priority: .warning)
        }
        continuation.finish()
    }

    func listen(name: String) throws(SystemError) {
        // The thread holds the connection, not this object: dropping the handle does not end the recording.
        let (process, continuation) = (process, continuation)
        try WorkerThread.detached(name: "rec-\(name)") {
            var order = RecorderReports()
            do {
                while let message = try process.socket.receive() { continuation.yield(try order.next(message.text)) }
            } catch {
                // Whoever says such things is not listened to again, nor left to write.
                Journal.send("the recorder of '\(name)' is ended: \(error)", priority: .warning)
                process.kill()
            }
            // Gone is who holds its file no more.
            process.reap()
            continuation.finish()
        }
    }

    func move(_ media: MediaType, to ring: any OpenFile) {
        guard let file = ring as? Descriptor else { return }
        let command: RecorderCommand = media == .video ? .videoMoved : .audioMoved
        tell(command, with: [file])
    }

    func stop() {
        tell(.stop(at: .now))
    }

    /// Tells it something without waiting. One that is gone does not hear it; the end of its connection says so.
    private func tell(_ command: RecorderCommand, with files: [Descriptor] = []) {
        do throws(SystemError) {
            try process.socket.offer(command.text, with: files)
        } catch {
            guard error.errno == EAGAIN else { return }
            Journal.send("a recorder that does not listen is ended: \(error)", priority: .warning)
            process.kill()
        }
    }

    func kill() {
        // One that is no child sees its daemon gone, finishes and ends; a thread that waits for its reports is let go.
        process.kill()
    }
}
