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

    /// Identifies a process that another one names. Blocks while it reads files.
    ///
    /// - Parameters:
    ///   - pid: The process.
    ///   - startTime: When it started, in clock ticks since boot, so that another one of the same number is not meant.
    ///   - user: Whose it has to be, by all of its uids.
    /// - Throws: `.notPermitted` if anything cannot be read or changes meanwhile, or if the process is another one.
    static func look(at pid: Int32, startedAt startTime: UInt64, of user: UInt32) throws(CaptureError) -> PeerFacts {
        let look = ProcessLook(pid: pid, process: try ProcessLook.pin(pid))
        let started = try look.status()
        guard started.startTime == startTime else { throw ProcessLook.refusal("its process has ended") }
        let rights = try look.rights()
        guard rights.users.allSatisfy({ $0 == user }) else {
            throw ProcessLook.refusal("its process runs as another user")
        }
        return try look.facts(of: user, rights.groups, since: started)
    }
}

extension ProcessLook {
    /// The users and groups that the process runs as, by `/proc/PID/status`.
    func rights() throws(CaptureError) -> (users: [UInt32], groups: [UInt32]) {
        func numbers(_ name: String, in lines: [Substring]) -> [UInt32]? {
            guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
            return line.dropFirst(name.count).split { $0.isWhitespace }.compactMap { UInt32($0) }
        }
        let lines = Files.text(of: "/proc/\(pid)/status", limit: 1 << 16)?.split(separator: "\n") ?? []
        guard let users = numbers("Uid:", in: lines), users.count == 4, let own = numbers("Gid:", in: lines),
            own.count == 4, let more = numbers("Groups:", in: lines)
        else { throw ProcessLook.refusal("/proc/\(pid)/status cannot be read") }
        return (users, Array(Set(own + more)).sorted())
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
            user: user,
            groups: groups,
            pid: pid,
            process: process,
            viaProcessFD: false,
            executable: try executable(),
            flatpakInfo: flatpakInfo(below: root),
            hasOwnRoot: !root.isShared,
            unit: group.unit,
            userUnit: group.userUnit,
            session: group.session,
            terminal: started.terminal,
            isForeground: started.terminal != 0 && started.processGroup == started.foregroundGroup,
            startTime: started.startTime,
            // Anybody can make a unit of a snap's name, but nobody its AppArmor profile. Not every bus names the profile,
            // and PipeWire never does.
            securityLabel: [group.unit, group.userUnit].contains { $0?.hasPrefix("snap.") == true }
                ? Files.line(of: "/proc/\(pid)/attr/apparmor/current") : nil
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
