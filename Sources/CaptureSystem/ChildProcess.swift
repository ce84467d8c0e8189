import CLinux
import Glibc

/// Starts a program as a child: posix_spawn(3).
public enum ChildProcess {
    /// Starts a program with a clean signal mask and only the standard descriptors.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Its arguments, without its own name.
    ///   - standardInput: What it reads as descriptor 0.
    ///   - standardOutput: What it writes to as descriptor 1; without it, what standard error goes to.
    ///   - inOwnSession: Whether it gets a session of its own, so that a terminal's signals don't reach it.
    /// - Returns: The child's process id.
    public static func spawn(
        _ path: String,
        _ arguments: [String] = [],
        standardInput: Descriptor,
        standardOutput: Descriptor? = nil,
        inOwnSession: Bool = true
    ) throws(SystemError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, standardInput.descriptor, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, standardOutput?.descriptor ?? 2, 1)
        // Not all libraries open files with O_CLOEXEC, and a pipe's reader waits while any process holds the writing
        // end.
        try SystemError.check("prepare a child") { unsafe clinux_spawn_close_from(&actions, 3) }
        var none = sigset_t()
        var reset = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&reset)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &reset)
        // POSIX_SPAWN_SETSID of spawn.h, a GNU extension that is not imported.
        let newSession: Int32 = 0x80
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (inOwnSession ? newSession : 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var child = pid_t()
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) }
        defer { while let word = unsafe words.popLast() { unsafe free(word) } }
        unsafe words.append(nil)
        let code = unsafe posix_spawn(&child, path, &actions, &attributes, &words, environ)
        guard code == 0 else { throw SystemError("start \(path)", errno: code) }
        return child
    }

    /// Runs a program in the place of this one: execvp(3), with a clean signal mask and no signal ignored.
    ///
    /// - Parameters:
    ///   - name: The program, looked for on the path.
    ///   - arguments: Its arguments, without its own name.
    /// - Throws: Why it cannot be started; otherwise this does not return.
    public static func replaceThisProcess(by name: String, _ arguments: [String]) throws(SystemError) -> Never {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        _ = signal(SIGPIPE, SIG_DFL)
        var words = unsafe ([name] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        unsafe execvp(name, &words)
        let code = errno
        _ = signal(SIGPIPE, SIG_IGN)
        throw SystemError("start \(name)", errno: code)
    }

    /// Waits for a child's end and takes its status: waitpid(2).
    ///
    /// - Returns: The exit status as waitpid(2) gives it, or -1 when it is no child of ours.
    @discardableResult
    public static func reap(_ child: Int32) -> Int32 {
        var status: Int32 = 0
        let result = try? SystemError.check("wait for a child") { unsafe waitpid(child, &status, 0) }
        return result == nil ? -1 : status
    }
}
