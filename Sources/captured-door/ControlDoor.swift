import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Accepts one connection to the daemon's control socket, and carries text between the two.
///
/// The daemon itself never holds such a connection. This process closes whatever descriptors a caller sends. If that
/// takes for ever, the daemon kills this process. Thread-bound.
struct ControlDoor {
    private let listening: Descriptor
    private let daemon: PacketSocket
    private let accepted: () -> Void

    init(listening: Descriptor, daemon: PacketSocket, accepted: @escaping () -> Void) {
        self.listening = listening
        self.daemon = daemon
        self.accepted = accepted
    }

    /// Serves one caller until it or the daemon leaves.
    func run() throws(SystemError) {
        guard let caller = try accept() else { return }
        accepted()
        var groups = [UInt32](repeating: 0, count: 1025)
        var (pid, user) = (pid_t(0), uid_t(0))
        let count = try SystemError.check("identify the caller") {
            unsafe clinux_peer(caller.file.descriptor, &pid, &user, &groups, Int32(groups.count))
        }
        try daemon.send(ControlCaller(pid: pid, user: user, groups: Array(groups.prefix(Int(count)))).text)
        try carry(caller)
    }

    /// The next caller; `nil` if the daemon has left.
    private func accept() throws(SystemError) -> PacketSocket? {
        while true {
            let ready = try Poll.wait(listening.descriptor, daemon.file.descriptor)
            guard ready.1.isEmpty else { return nil }
            let number = clinux_accept(listening.descriptor)
            if number >= 0 { return PacketSocket(Descriptor(owning: number)) }
            let error = SystemError("accept a caller", errno: errno)
            // Another process accepted the caller first, or the caller left.
            guard [EAGAIN, ECONNABORTED, EINTR].contains(error.errno) else { throw error }
        }
    }

    private func carry(_ caller: PacketSocket) throws(SystemError) {
        while true {
            let ready = try Poll.wait(caller.file.descriptor, daemon.file.descriptor)
            if !ready.1.isEmpty {
                guard let message = try daemon.receive() else { return }
                try caller.send(message.text)
            } else {
                // Descriptors that come with the message are closed here.
                guard let message = try caller.receive() else { return }
                try daemon.send(message.text)
            }
        }
    }
}
