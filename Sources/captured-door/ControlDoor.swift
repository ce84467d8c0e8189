import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Accepts one connection to the daemon's control socket, and carries text between the two.
///
/// The daemon itself never holds such a connection: descriptors that somebody sends there are closed by the kernel on this
/// process's time, and if that takes for ever the process is ended. Thread-bound.
struct ControlDoor {
    private let listening: Descriptor
    private let daemon: PacketSocket
    private let accepted: () -> Void

    init(listening: Descriptor, daemon: PacketSocket, accepted: @escaping () -> Void) {
        self.listening = listening
        self.daemon = daemon
        self.accepted = accepted
    }

    /// Serves one caller until it or the daemon leaves. Callers that leave before they say anything are passed over.
    func run() throws(SystemError) {
        // The connection is closed when `serveNext` returns; if that hangs, the daemon is not told that it can go on here.
        while try serveNext() { try daemon.send(ControlReport.left.text) }
    }

    /// Waits for a caller, tells the daemon of it, and serves it.
    ///
    /// - Returns: Whether the caller left without a word, so that this process has seen nothing of anybody's.
    private func serveNext() throws(SystemError) -> Bool {
        guard let caller = try accept() else { return false }
        guard let credentials = try credentials(of: caller) else {
            try daemon.send(ControlReport.refused.text)
            return false
        }
        try daemon.send(ControlReport.caller(credentials).text)
        // Nothing that the caller sent is taken in before the daemon has room for it.
        guard try daemon.receiveText() != nil else { return false }
        let ready = try Poll.wait(caller.file.descriptor, daemon.file.descriptor)
        guard ready.1.isEmpty else { return false }
        if try caller.isAbandoned { return true }
        accepted()
        try carry(caller)
        return false
    }

    /// Who called; `nil` for one with more groups than are told on.
    private func credentials(of caller: PacketSocket) throws(SystemError) -> ControlCaller? {
        var groups = [UInt32](repeating: 0, count: 1025)
        var (pid, user) = (pid_t(0), uid_t(0))
        let count = unsafe clinux_peer(caller.file.descriptor, &pid, &user, &groups, Int32(groups.count))
        if count < 0, errno == ERANGE { return nil }
        try SystemError.check("tell who called") { count }
        return ControlCaller(pid: pid, user: user, groups: Array(groups.prefix(Int(count))))
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
                guard let text = try daemon.receiveText() else { return }
                try caller.send(text)
            } else {
                // Descriptors beside it are never opened here: closing one may take a file system's server for ever, and then
                // this process could not be killed either.
                guard let text = try caller.receiveText(),
                    text.utf8.count <= ControlReport.largest(of: PacketSocket.largestMessage)
                else { return }
                try daemon.send(ControlReport.said(text).text)
            }
        }
    }
}
