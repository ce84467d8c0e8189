import BusSupport
import Foundation
import Testing

/// What a process behind the filter can still do to others of its user.
struct SystemCallFilterTests {
    /// Tries calls on a child and on itself, and prints the errors.
    private static let program = #"""
        #define _GNU_SOURCE
        #include "clinux_sandbox.h"
        #include <errno.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/resource.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static void told(const char *name, long result) { printf("%s %d\n", name, result < 0 ? errno : 0); }
        int main(void) {
            /* The child is there for as long as its parent. */
            int ends[2] = {-1, -1};
            char nothing;
            if (pipe(ends) < 0) return 1;
            pid_t child = fork();
            if (!child) return close(ends[1]) + (int)read(ends[0], &nothing, 1);
            struct rlimit limit;
            siginfo_t info = {.si_code = SI_QUEUE};
            int file = (int)syscall(SYS_pidfd_open, child, 0);
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            told("filter", clinux_seccomp_deny_outside());
            told("kill", kill(child, 0));
            told("tgkill", syscall(SYS_tgkill, child, child, 0));
            told("tkill", syscall(SYS_tkill, child, 0));
            told("queue", syscall(SYS_rt_sigqueueinfo, child, 0, &info));
            told("tgqueue", syscall(SYS_rt_tgsigqueueinfo, child, child, 0, &info));
            told("pidfd", syscall(SYS_pidfd_open, child, 0));
            told("send", syscall(SYS_pidfd_send_signal, file, 0, NULL, 0));
            told("limit", prlimit(child, RLIMIT_CORE, NULL, &limit));
            told("own-limit", getrlimit(RLIMIT_CORE, &limit));
            told("own", syscall(SYS_tgkill, getpid(), getpid(), 0));
            fflush(stdout);
            return raise(SIGKILL);
        }
        """#

    @Test func `signals and limits reach the process alone`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "filter-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/CLinux")
        try Self.program.write(to: folder.appending(path: "main.c"), atomically: true, encoding: .utf8)
        let built = folder.appending(path: "program").path
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/cc")
        compiler.arguments = [
            "-I", sources.appending(path: "include").path, folder.appending(path: "main.c").path,
            sources.appending(path: "sandbox.c").path, "-o", built,
        ]
        try compiler.run()
        await compiler.ended()
        try #require(compiler.terminationStatus == 0)
        let (tries, output) = (Process(), Pipe())
        tries.executableURL = URL(filePath: built)
        tries.standardOutput = output
        try tries.run()
        await tries.ended()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let refused = ["kill", "tgkill", "tkill", "queue", "tgqueue", "pidfd", "send", "limit"].map { "\($0) 1\n" }
        #expect(said == "filter 0\n" + refused.joined() + "own-limit 0\nown 0\n")
        // It could end itself.
        #expect(tries.terminationReason == .uncaughtSignal)
    }
}
