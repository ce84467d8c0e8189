import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// A `captured-door` process and the connection to it. It may block at any time on what a program sent; then the daemon
/// kills it. Thread-safe.
final class DoorProcess: Sendable {
    /// What it does; its first argument.
    enum Kind: String, Sendable {
        /// Holds the descriptors that one program passes.
        case pass
        /// Accepts and serves one caller of the control socket.
        case control
    }

    /// The connection.
    let socket: PacketSocket
    /// Pins the process, so that `kill` cannot hit another one with its number.
    private let process: Descriptor

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - input: Its standard input.
    ///   - ended: Called once, on a thread of its own, when the process has ended.
    /// - Throws: If the thread or the process cannot be started.
    init(
        _ path: String,
        _ kind: Kind,
        input: Descriptor,
        ended: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let (ours, theirs) = try PacketSocket.pair()
        socket = ours
        let child = try ChildProcess.spawn(
            path,
            [kind.rawValue],
            standardInput: input,
            standardOutput: theirs.file
        )
        do throws(SystemError) {
            // Only this code reaps the child, so the child still has its number.
            process = Descriptor(owning: try SystemError.check("pin a door") { clinux_pidfd_open(child) })
            try WorkerThread.detached(name: "door") {
                ChildProcess.reap(child)
                ended()
            }
        } catch {
            Glibc.kill(child, SIGKILL)
            throw error
        }
    }

    /// Starts a process on a thread that first gives up the daemon's capabilities, so that the process gets none.
    static func start(
        _ path: String,
        _ kind: Kind,
        input: Descriptor,
        ended: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> DoorProcess {
        try await WorkerThread.run("start-door") { () throws(CaptureError) in
            do throws(SystemError) {
                try SystemError.check("give up capabilities") { clinux_clear_ambient() }
                return try DoorProcess(path, kind, input: input, ended: ended)
            } catch {
                throw CaptureError(.internalFault, error)
            }
        }
    }

    /// Whether the process lives, so that `ended` is still to come and can remove an entry that is made now.
    var isAlive: Bool { clinux_pidfd_alive(process.descriptor) == 1 }

    /// Kills the process, whatever it waits for. If a file system holds on to it, it ends later.
    func kill() {
        _ = clinux_pidfd_kill(process.descriptor)
    }

    deinit {
        kill()
    }
}
