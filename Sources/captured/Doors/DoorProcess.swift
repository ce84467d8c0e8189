import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// A process of `captured-door` and the connection to it: it may block at any time, on what a program sent to it, and is
/// ended then. Thread-safe.
final class DoorProcess: Sendable {
    /// What it is started for: its first argument.
    enum Kind: String, Sendable {
        /// To hold the descriptors that one program passes.
        case pass
        /// To accept and serve one caller of the control socket.
        case control
    }

    /// The connection.
    let socket: PacketSocket
    /// Pins the process, so that no other is ended by its number.
    private let process: Descriptor

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - input: Its standard input.
    ///   - ended: Called once, on a thread of its own, when the process is gone.
    /// - Throws: When there is no thread or no process to be had.
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
            // Nobody else reaps it, so it still has its number.
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

    /// Starts one on a thread that gives up the daemon's capabilities first: what is executed there has none of them.
    static func start(
        _ path: String,
        _ kind: Kind,
        input: Descriptor,
        ended: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> DoorProcess {
        try await WorkerThread.run("start-door") {
            do throws(SystemError) {
                try SystemError.check("give up capabilities") { clinux_clear_ambient() }
                return .success(try DoorProcess(path, kind, input: input, ended: ended))
            } catch {
                return .failure(CaptureError(.internalFault, error))
            }
        }
    }

    /// Whether `ended` is still to be called, by which an entry that is made now will go again.
    var isAlive: Bool { clinux_pidfd_alive(process.descriptor) == 1 }

    /// Ends it at once, whatever it waits for. A process that a file system holds on to is gone later.
    func kill() {
        _ = clinux_pidfd_kill(process.descriptor)
    }

    deinit {
        kill()
    }
}
