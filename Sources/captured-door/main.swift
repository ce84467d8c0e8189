import CLinux
import CaptureSystem
import Glibc

// Each connection that takes descriptors from programs has a process of its own. Closing a descriptor may take for
// ever; then the daemon kills this process and nobody waits. Standard input is the program's end, standard output the
// daemon's.
let daemon = PacketSocket(Descriptor(owning: STDOUT_FILENO))

/// Gives up every right that holding and sending descriptors does not need. Goes on if the kernel lacks one of the
/// layers.
func closeSandbox() {
    guard clinux_no_new_privileges() == 0 else { return StandardError.write("captured-door: cannot set no_new_privs") }
    if clinux_landlock_deny_files() != 0, ![ENOSYS, EOPNOTSUPP].contains(errno) {
        StandardError.write("captured-door: cannot deny access to files: \(SystemError.text(of: errno))")
    }
    if clinux_seccomp_deny_outside() != 0 { StandardError.write("captured-door: cannot install a system-call filter") }
}

clinux_ignore_signal(SIGPIPE)
if clinux_offer_to_oom() != 0 { StandardError.write("captured-door: cannot set oom_score_adj") }

do throws(SystemError) {
    switch Array(CommandLine.arguments.dropFirst()) {
    case ["pass"]:
        closeSandbox()
        let client = PacketSocket(Descriptor(owning: STDIN_FILENO))
        var door = PassingDoor(client: client, daemon: daemon)
        try door.run()
    case ["control"]:
        try ControlDoor(listening: Descriptor(owning: STDIN_FILENO), daemon: daemon, accepted: closeSandbox).run()
    default:
        StandardError.write(
            "captured-door: usage: captured-door pass|control, with its sockets as standard input and output"
        )
        _exit(64)
    }
    _exit(0)
} catch {
    StandardError.write("captured-door: \(error)")
    _exit(74)
}
