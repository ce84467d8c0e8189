import CaptureKit
import CaptureSystem
import Glibc
import Synchronization

/// Lets polkit ask for a password on this command's terminal, as systemctl does: pkttyagent(1).
enum PasswordAgent {
    private static let program = "/usr/bin/pkttyagent"
    /// Milliseconds that the agent may take to register; a hung bus must not delay the command for longer.
    private static let patience: Int32 = 5000

    /// Runs `body` while an agent waits on the terminal. If the session has an agent of its own, that one asks.
    ///
    /// Starts no agent for root, without a terminal, or if polkit's program is not installed.
    ///
    /// - Parameter asRoot: The arguments with which root can do the same, for the message if no password was given; `nil` for
    ///   what root cannot.
    static func during<Result: Sendable>(
        asRoot: String?,
        _ body: () async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        let agent = start()
        defer { agent?.end() }
        do throws(CaptureError) {
            return try await body()
        } catch {
            guard error.code == .notPermitted, geteuid() != 0, let asRoot else { throw error }
            let message = "\(error.message); as root: sudo capturectl \(asRoot)"
            throw CaptureError(.notPermitted, message, errno: error.errno)
        }
    }

    /// - Returns: The registered agent; `nil` without one.
    private static func start() -> Child? {
        guard geteuid() != 0, isatty(STDERR_FILENO) == 1, Files.isProgram(program),
            let terminal = try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY)
        else { return nil }
        do throws(SystemError) {
            let pipe = try Descriptor.pipe()
            let child = try Child(terminal, tells: pipe.writing)
            // It closes its end once it is registered, or when it fails.
            _ = try Poll.wait(pipe.reading.descriptor, timeout: patience)
            return child
        } catch {
            Output.message("cannot ask for a password on this terminal: \(error)")
            return nil
        }
    }

    /// The agent's process, and the thread that started it and waits for its end. The kernel ends the process with that
    /// thread, so that no agent goes on reading the terminal when this command is killed.
    private struct Child {
        private final class Process: Sendable {
            /// While it runs.
            let id = Mutex<Int32?>(nil)
            /// Until the process has it.
            let notice: Mutex<Descriptor?>

            init(_ notice: Descriptor) { self.notice = Mutex(notice) }
        }

        private let process: Process
        private let thread: WorkerThread

        init(_ terminal: Descriptor, tells notice: consuming Descriptor) throws(SystemError) {
            let process = Process(notice)
            self.process = process
            thread = try WorkerThread(name: "password-agent") {
                do throws(SystemError) {
                    let id = try ChildProcess.spawn(
                        "/usr/bin/setpriv",
                        ["--pdeathsig", "TERM", program, "--notify-fd", "1", "--fallback"],
                        standardInput: terminal,
                        standardOutput: process.notice.withLock { $0 },
                        inOwnSession: false
                    )
                    process.id.withLock { $0 = id }
                    process.notice.withLock { $0 = nil }
                    // Its number stays its own until it is reaped.
                    while waitid(P_PID, id_t(id), nil, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                    process.id.withLock { running in
                        running = nil
                        ChildProcess.reap(id)
                    }
                } catch {
                    Output.message("no password can be asked for on this terminal: \(error)")
                    process.notice.withLock { $0 = nil }
                }
            }
        }

        func end() {
            process.id.withLock { id in
                guard let id else { return }
                kill(id, SIGTERM)
                // One that was stopped by Ctrl-Z hears it only then.
                kill(id, SIGCONT)
            }
            thread.join()
        }
    }
}
