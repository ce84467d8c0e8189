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
        let files = try [file, video, audio].compactMap { $0 }.map { file throws(CaptureError) in
            guard let descriptor = file as? Descriptor else {
                throw CaptureError(.internalFault, "a recorder can be handed descriptors alone")
            }
            return descriptor
        }
        do throws(SystemError) {
            let handle = try connect()
            try handle.socket.send(job.text, with: files)
            try handle.listen(name: job.output.name)
            return handle
        } catch {
            throw CaptureError(.recorderLost, "no recorder could be started: \(error)", errno: error.errno)
        }
    }

    private func connect() throws(SystemError) -> RunningRecorder {
        switch origin {
        case .socket(let path):
            return RunningRecorder(socket: try PacketSocket.connect(to: path), child: nil)
        case .program(let path):
            let (ours, theirs) = try PacketSocket.pair()
            return RunningRecorder(socket: ours, child: try ChildProcess.spawn(path, standardInput: theirs.file))
        }
    }
}

/// A recorder at work: its connection, and a thread that reads what it reports.
private final class RunningRecorder: RecorderHandle {
    let socket: PacketSocket
    let reports: AsyncStream<RecorderReport>
    private let child: Int32?
    private let continuation: AsyncStream<RecorderReport>.Continuation

    init(socket: PacketSocket, child: Int32?) {
        self.socket = socket
        self.child = child
        (reports, continuation) = AsyncStream.makeStream()
    }

    func listen(name: String) throws(SystemError) {
        // The thread holds the connection, not this object: dropping the handle does not end the recording.
        let (socket, continuation, child) = (socket, continuation, child)
        try WorkerThread.detached(name: "rec-\(name)") {
            while let message = try? socket.receive() {
                guard let report = try? RecorderReport(text: message.text) else { break }
                continuation.yield(report)
            }
            continuation.finish()
            if let child { ChildProcess.reap(child) }
        }
    }

    func move(_ media: MediaType, to ring: any OpenFile) {
        guard let file = ring as? Descriptor else { return }
        let command: RecorderCommand = media == .video ? .videoMoved : .audioMoved
        // One that is gone does not need it.
        try? socket.send(command.text, with: [file])
    }

    func stop() {
        // A recorder that is gone does not hear it; the end of its connection says so.
        try? socket.send(RecorderCommand.stop(at: .now).text)
    }

    func kill() {
        if let child { Glibc.kill(child, SIGKILL) }
        // The recorder sees its daemon gone, finishes and ends; a thread that waits for its reports is let go.
        shutdown(socket.file.descriptor, Int32(SHUT_RDWR))
    }
}
