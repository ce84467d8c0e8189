import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc
import Synchronization

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

/// Starts recorders.
struct Recorders: RecorderLauncher {
    let origin: RecorderOrigin

    func start() async throws(CaptureError) -> any IdleRecorder {
        // This may block: it forks a child, or waits for room in the service manager's socket.
        let process = try await WorkerThread.run("start-recorder") { [origin] () throws(CaptureError) in
            do throws(SystemError) {
                return try RecorderProcess.start(origin)
            } catch {
                throw CaptureError(.recorderLost, "cannot start a recorder: \(error)", errno: error.errno)
            }
        }
        return WaitingRecorder(process)
    }
}

/// A recorder that waits for its job.
private final class WaitingRecorder: IdleRecorder {
    private let process: RecorderProcess

    init(_ process: RecorderProcess) {
        self.process = process
    }

    func take(_ job: RecordingJob, files: [any OpenFile], video: (any OpenFile)?, audio: (any OpenFile)?)
        async throws(CaptureError) -> any RecorderHandle
    {
        do throws(CaptureError) {
            let rings = [video, audio].compactMap { $0 as? Descriptor }
            let passed = files.compactMap { $0 as? any JobFile }
            guard let file = passed.first, passed.count == files.count,
                rings.count == [video, audio].compactMap(\.self).count
            else { throw CaptureError(.internalFault, "a recorder can only get descriptors") }
            try await file.hand(job.text, over: process.socket, with: rings)
            for file in passed.dropFirst() {
                try await file.hand(RecorderCommand.file.text, over: process.socket, with: [])
            }
            let recorder = RunningRecorder(process)
            do throws(SystemError) {
                try recorder.listen(name: job.output.name)
            } catch {
                throw CaptureError(.recorderLost, "cannot listen to the recorder: \(error)", errno: error.errno)
            }
            return recorder
        } catch {
            dismiss()
            throw error
        }
    }

    func dismiss() {
        process.kill()
        do throws(SystemError) {
            try WorkerThread.detached(name: "rec-reap") { [process] in process.reap() }
        } catch {
            // A zombie stays until the daemon ends, because no thread can be started to reap it.
            Journal.send("cannot reap a recorder that got no job: \(error)", priority: .warning)
        }
    }
}

/// A recorder at work: its connection, and a thread that reads what it reports.
private final class RunningRecorder: RecorderHandle {
    private let process: RecorderProcess
    let reports: AsyncStream<RecorderReport>
    private let continuation: AsyncStream<RecorderReport>.Continuation
    private let death = Death()
    var end: String { death.words.withLock { $0 } }

    /// How the process ended, which the thread that reaps it says.
    private final class Death: Sendable {
        let words = Mutex("")
    }

    init(_ process: RecorderProcess) {
        self.process = process
        // Room for minutes of honest reports. Of a flood, it keeps the newest, which include the end.
        (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    func listen(name: String) throws(SystemError) {
        // The thread holds the connection, not this object: dropping the handle does not end the recording.
        let (process, continuation, death) = (process, continuation, death)
        try WorkerThread.detached(name: "rec-\(name)") {
            var order = RecorderReports()
            var signal: Int32?
            do {
                while let message = try process.socket.receive() {
                    if signal == nil, let death = RecorderDeath(text: message.text) {
                        signal = death.signal
                    } else {
                        continuation.yield(try order.next(message.text))
                    }
                }
            } catch {
                // A recorder that sends such reports is not trusted any more, and must not go on writing.
                Journal.send("killing the recorder of '\(name)': \(error)", priority: .warning)
                process.kill()
            }
            // Gone is who holds its file no more.
            let end = process.reap(after: signal)
            death.words.withLock { $0 = end }
            continuation.finish()
        }
    }

    func move(_ media: MediaType, to ring: any OpenFile) {
        guard let file = ring as? Descriptor else { return }
        let command: RecorderCommand = media == .video ? .videoMoved : .audioMoved
        tell(command, with: [file])
    }

    func setPaused(_ isPaused: Bool) {
        tell(isPaused ? .pause(at: .now) : .resume(at: .now))
    }

    func mark(_ marker: RecordingMarker) {
        tell(.mark(marker, at: .now))
    }

    func note(_ metadata: [TimedMetadata]) -> Bool {
        let commands = metadata.map { RecorderCommand.note($0, at: $0.time ?? .now) }
        guard process.socket.hasRoom(for: commands.map(\.text.utf8.count)) else { return false }
        for command in commands { tell(command) }
        return true
    }

    func begin(at time: Timestamp?) {
        tell(.begin(at: time ?? .now))
    }

    func shoot(_ order: PictureOrder) { tell(.shoot(order, at: .now)) }

    func cut() {
        tell(.cut(at: .now))
    }

    func add(_ file: any OpenFile) async throws(CaptureError) {
        guard let file = file as? any JobFile else {
            throw CaptureError(.internalFault, "a recorder can only get descriptors")
        }
        try await file.hand(RecorderCommand.file.text, over: process.socket, with: [])
    }

    func setEnabled(_ isEnabled: Bool, _ kind: MediaType) {
        tell(isEnabled ? .enable(kind, at: .now) : .disable(kind, at: .now))
    }

    func setGain(_ gain: Double) { tell(.setGain(gain)) }

    func watchLevels(_ isWatched: Bool) { tell(.watchLevels(isWatched)) }

    func stop() {
        tell(.stop(at: .now))
    }

    /// Sends a command without waiting. If the recorder is gone, the end of its connection tells.
    private func tell(_ command: RecorderCommand, with files: [Descriptor] = []) {
        do throws(SystemError) {
            try process.socket.offer(command.text, with: files)
        } catch {
            guard error.errno == EAGAIN else { return }
            Journal.send("killing a recorder that does not read its commands: \(error)", priority: .warning)
            process.kill()
        }
    }

    func kill() {
        // A recorder that is no child goes on until it sees that its connection is closed. The stop tells it to take
        // nothing that comes from now on. The thread that waits for its reports is let go.
        tell(.stop(at: .now))
        process.kill()
    }
}
