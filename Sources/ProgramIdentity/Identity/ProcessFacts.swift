/// What the system says about a process that is pinned by a pidfd or checked again by pid. An identity is made only of
/// these facts, never of environment variables or anything that the process sent.
public struct ProcessFacts: Hashable, Sendable {
    /// The process.
    public var pid: Int32
    /// Its uid, from the socket's credentials.
    public var uid: UInt32
    /// Its groups, from the socket's credentials.
    public var gids: [UInt32]
    /// The file that it runs.
    public var executable: ProcessExecutable
    /// The system unit whose cgroup it is in (`sd_pid_get_unit`), as in `cron.service`, `user@1000.service` or
    /// `session-3.scope`; `nil` when it is in none.
    public var systemUnit: String?
    /// The uid that the manager runs the system unit as (the `UID` property of a `.service`, where `UInt32.max` stands
    /// for a unit that sets none and so runs as root); `nil` when that is not known.
    public var systemUnitUser: UInt32?
    /// The unit of a user's manager whose cgroup it is in (`sd_pid_get_user_unit`), as in `app-foo-12.scope`.
    public var userUnit: String?
    /// The current state of the script whose scope `userUnit` is; `nil` if it is any other unit.
    public var script: ScriptScope.Script?
    /// The login session that it is part of (`sd_pid_get_session`).
    public var session: String?
    /// Whether people log in as its uid; see `isLoginUser`.
    public var isLoginUser: Bool
    /// Its security label, as AppArmor or SELinux gives it; empty for none.
    public var label: String
    /// The file `/.flatpak-info` on its own root.
    public var flatpakInfo: FlatpakFile
    /// Whether it was found only by its number, because the bus holds no descriptor of it.
    public var isByPid: Bool
    /// When it started, in clock ticks since boot.
    public var startTime: UInt64

    /// The result of looking for a file that Flatpak puts on a sandbox's root.
    public enum FlatpakFile: Hashable, Sendable {
        /// There is none.
        case absent
        /// Its text, its owner, and where it lies.
        case file(text: String, owner: UInt32, isInMemory: Bool, isOnOwnRoot: Bool)
        /// Whether it exists, or its text, cannot be found out; why, in words.
        case unusable(String)
    }

    /// Facts about a process.
    public init(
        pid: Int32,
        uid: UInt32,
        gids: [UInt32] = [],
        executable: ProcessExecutable,
        systemUnit: String? = nil,
        systemUnitUser: UInt32? = nil,
        userUnit: String? = nil,
        script: ScriptScope.Script? = nil,
        session: String? = nil,
        isLoginUser: Bool,
        label: String = "",
        flatpakInfo: FlatpakFile = .absent,
        isByPid: Bool = false,
        startTime: UInt64 = 0
    ) {
        self.pid = pid
        self.uid = uid
        self.gids = gids
        self.executable = executable
        self.systemUnit = systemUnit
        self.systemUnitUser = systemUnitUser
        self.userUnit = userUnit
        self.script = script
        self.session = session
        self.isLoginUser = isLoginUser
        self.label = label
        self.flatpakInfo = flatpakInfo
        self.isByPid = isByPid
        self.startTime = startTime
    }

    /// Whether a uid is one that people log in to, rather than a program's own.
    ///
    /// - Parameters:
    ///   - uid: The uid.
    ///   - shell: Its shell by getpwuid(3); `nil` when it has no entry.
    ///   - hasSession: Whether it has a login session now.
    public static func isLoginUser(_ uid: UInt32, shell: String?, hasSession: Bool) -> Bool {
        // The user nobody stands for everybody unknown, so it is no program's own user.
        if hasSession || uid == 0 || uid == 65534 { return true }
        let isSystems = (1...999).contains(uid) || (61184...65519).contains(uid)
        if isSystems { return false }
        guard let shell else { return true }
        return !shell.hasSuffix("/nologin") && !shell.hasSuffix("/false")
    }
}

/// What `/proc/PID/exe` leads to.
public enum ProcessExecutable: Hashable, Sendable {
    /// The file that is at that path for the rest of the system, too.
    case file(ExecutableFile)
    /// A file that is not what the system has at that path: the process has another view of the file system.
    case elsewhere(ExecutableFile)
    /// A file that was removed or replaced since it was started.
    case deleted(String)
    /// A file that never had a name: memfd_create(2).
    case memory(String)
    /// It could not be read; why, in words.
    case unreadable(String)

    /// Classifies what readlink(2) and stat(2) of `/proc/PID/exe` gave.
    ///
    /// - Parameters:
    ///   - link: The link's text.
    ///   - device: `st_dev` of the file behind it.
    ///   - inode: `st_ino` of the file behind it.
    ///   - changed: `st_ctim` of the file behind it, in nanoseconds.
    ///   - root: The root of the system's own view: empty for this process's, `/proc/1/root` for a daemon from which
    ///     home and temporary directories are hidden.
    public static func examine(
        link: String,
        device: UInt64,
        inode: UInt64,
        changed: Int64,
        below root: String = ""
    ) -> ProcessExecutable {
        if link.hasPrefix("/memfd:") { return .memory(link) }
        guard link.hasPrefix("/") else { return .unreadable("its path '\(link)' is outside of every root") }
        let look = ExecutableFile.look(link, below: root)
        if case .found(let here) = look, here.device == device, here.inode == inode { return .file(here) }
        // The kernel adds this suffix. A file whose name really ends so was found above.
        if link.hasSuffix(" (deleted)") { return .deleted(String(link.dropLast(10))) }
        let file = ExecutableFile(path: link, device: device, inode: inode, changed: changed, isProtected: false)
        // The file there cannot be compared. The answer is then bound to the file itself, so a forged path gains nothing.
        if case .hidden = look { return .file(file) }
        return .elsewhere(file)
    }
}
