import CaptureCore
import CaptureSystem
import Glibc

/// The real program, started as the daemon starts it: its socket is standard input.
final class RecorderProcess {
    /// What the process may have.
    struct Limits {
        /// Blocks of 512 bytes that a file may have; nil for no end.
        var fileBlocks: Int?
    }

    let pid: pid_t
    /// Processor time that it took, in seconds, once it is waited for.
    private(set) var seconds = 0.0
    private var isReaped = false

    init(_ socket: PacketSocket, _ limits: Limits) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, socket.file.descriptor, 0)
        let limit = limits.fileBlocks.map { "ulimit -f \($0);" } ?? ""
        let words = ["/bin/sh", "-c", "\(limit) exec \(RecorderProcess.program)"]
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child = pid_t()
        let code = unsafe posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, environ)
        guard code == 0 else { throw SystemError("start the recorder", errno: code) }
        pid = child
    }

    deinit {
        if !isReaped {
            Glibc.kill(pid, SIGKILL)
            _ = try? wait()
        }
    }

    func kill(_ signal: Int32) { Glibc.kill(pid, signal) }

    /// Waits for its end: the exit code, or minus the signal.
    func wait() throws -> Int32 {
        var status: Int32 = 0
        var used = rusage()
        while unsafe wait4(pid, &status, 0, &used) == -1 {
            if errno != EINTR { throw SystemError("wait for the recorder", errno: errno) }
        }
        isReaped = true
        for time in [used.ru_utime, used.ru_stime] { seconds += Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    /// The program lies beside the tests.
    private static var program: String {
        let own = Files.link(at: "/proc/self/exe") ?? ""
        return (own.split(separator: "/").dropLast().map { "/" + $0 }.joined()) + "/captured-recorder"
    }
}
