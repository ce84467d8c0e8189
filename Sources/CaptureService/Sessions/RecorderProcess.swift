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
    ///
    /// - Parameter signal: The one that it said kills it.
    /// - Returns: How it ended and where to look, as a part of a sentence.
    @discardableResult
    func reap(after signal: Int32? = nil) -> String {
        guard let child else {
            let place = "see 'coredumpctl' and 'journalctl -u captured-recorder@*'"
            guard let signal else {
                return "it ended without a reason, perhaps killed because memory ran out; "
                    + "see 'journalctl -u captured-recorder@*' and 'journalctl -k'"
            }
            return RecorderProcess.killed(by: signal) + "; " + place
        }
        let status = ChildProcess.reap(child)
        guard status & 0x7f != 0 else { return "it exited with \(status >> 8 & 0xff)" }
        let place = "see 'coredumpctl info \(child)', or 'journalctl -k' if memory ran out"
        return RecorderProcess.killed(by: status & 0x7f) + "; " + place
    }

    private static func killed(by signal: Int32) -> String {
        let name = unsafe strsignal(signal).map { unsafe " (\(String(cString: $0)))" } ?? ""
        return "it was killed by signal \(signal)\(name)"
    }
}
