import CLinux
import CaptureSystem
import Glibc

// One process for each connection over which programs may send descriptors: closing one of those may take for ever, and
// then this process is ended and nobody waits for it. Standard input is the program's end, standard output the daemon's.
let daemon = PacketSocket(Descriptor(owning: STDOUT_FILENO))

/// Gives up what holding and handing on does not take. A kernel that lacks a layer is no reason not to work.
func closeSandbox() {
    guard clinux_no_new_privileges() == 0 else { return DoorLog.write("new privileges cannot be given up") }
    if clinux_landlock_deny_files() != 0, ![ENOSYS, EOPNOTSUPP].contains(errno) {
        DoorLog.write("files cannot be given up: \(SystemError.text(of: errno))")
    }
    if clinux_seccomp_deny_outside() != 0 { DoorLog.write("no system-call filter here") }
}

clinux_ignore_signal(SIGPIPE)
if clinux_offer_to_oom() != 0 { DoorLog.write("memory is not given back first here") }

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
        DoorLog.write("usage: captured-door pass|control, with its sockets as standard input and output")
        _exit(64)
    }
    _exit(0)
} catch {
    DoorLog.write("\(error)")
    _exit(74)
}
