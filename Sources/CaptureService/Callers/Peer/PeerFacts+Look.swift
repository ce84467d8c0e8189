import CaptureCore
import CaptureSystem
import Glibc

extension PeerFacts {
    /// Identifies the process that connected to one of the daemon's own sockets, without the bus. Blocks while it reads
    /// files.
    ///
    /// - Parameters:
    ///   - pid: The process, as the kernel recorded it at the connection. Another process may have that number by now,
    ///     so the result describes some process of that user, not surely the one that connected.
    ///   - user: The uid at the connection.
    ///   - groups: The gids at the connection.
    /// - Throws: `.notPermitted` if anything cannot be read or changes meanwhile, or if the process is another user's.
    static func look(at pid: Int32, user: UInt32, groups: [UInt32]) throws(CaptureError) -> PeerFacts {
        let look = ProcessLook(pid: pid, process: try ProcessLook.pin(pid))
        let started = try look.status()
        var owner = stat()
        guard unsafe stat("/proc/\(pid)", &owner) == 0, owner.st_uid == user else {
            throw ProcessLook.refusal("its process has ended or runs as another user")
        }
        return try look.facts(of: user, groups, since: started)
    }
}

extension ProcessLook {
    /// Everything about the process. Checks at the end that the process has not changed.
    ///
    /// - Parameter started: Its status at the beginning.
    func facts(of user: UInt32, _ groups: [UInt32], since started: Status) throws(CaptureError) -> PeerFacts {
        let root = try root()
        let group = try ControlGroup.of(pid)
        let facts = PeerFacts(
            uniqueName: "",
            user: user,
            groups: groups,
            pid: pid,
            process: process,
            viaProcessFD: false,
            executable: try executable(),
            flatpakInfo: flatpakInfo(below: root),
            hasOwnRoot: !root.isShared,
            controlGroup: group.path,
            unit: group.unit,
            userUnit: group.userUnit,
            slice: group.slice,
            session: group.session,
            ownerUser: group.ownerUser,
            terminal: started.terminal,
            isForeground: started.terminal != 0 && started.processGroup == started.foregroundGroup,
            startTime: started.startTime,
            securityLabel: nil
        )
        let ended = try status()
        guard isAlive, ended.startTime == started.startTime else {
            throw ProcessLook.refusal("its process ended meanwhile")
        }
        guard try executable() == facts.executable else {
            throw ProcessLook.refusal("its process ran another program meanwhile")
        }
        // Opened again, because the process may have moved to another root. When it ends, its mounts go before its
        // pidfd reports the end.
        guard flatpakInfo(below: try self.root()) == facts.flatpakInfo, isAlive else {
            throw ProcessLook.refusal("its sandbox changed meanwhile")
        }
        return facts
    }
}
