import CaptureSystem
import Glibc

/// A process of `captured-recorder` and the connection to it.
///
/// Thread-safe, but for `reap`, which is called once.
final class RecorderProcess: Sendable {
    /// The connection; the process ends what it does when it is closed.
    let socket: PacketSocket
    /// Its id, when it is a child.
    private let child: Int32?

    private init(_ socket: PacketSocket, child: Int32?) {
        self.socket = socket
        self.child = child
    }

    /// Starts one.
    static func start(_ origin: RecorderOrigin) throws(SystemError) -> RecorderProcess {
        switch origin {
        case .socket(let path):
            return RecorderProcess(try PacketSocket.connect(to: path), child: nil)
        case .program(let path):
            let (ours, theirs) = try PacketSocket.pair()
            return RecorderProcess(ours, child: try ChildProcess.spawn(path, standardInput: theirs.file))
        }
    }

    /// Closes the connection for both ends: whoever waits at it is let go, and a process at an import ends.
    func disconnect() {
        shutdown(socket.file.descriptor, Int32(SHUT_RDWR))
    }

    /// Ends it at once; before `reap` alone.
    func kill() {
        if let child { Glibc.kill(child, SIGKILL) }
        disconnect()
    }

    /// Waits for the end of a child.
    func reap() {
        if let child { ChildProcess.reap(child) }
    }
}
