/// Who is asking: a program as the system describes it, without a word from the program itself.
public struct ClientIdentity: Hashable, Sendable {
    /// The program's id: `flatpak:ID`, `snap:NAME`, `unit:NAME.service`, `uid:N`, `app:ID` or `exe:PATH`.
    public var program: String
    /// What the id is worth.
    public var tier: Tier
    /// The uid that the program runs as.
    public var user: UInt32
    /// The id in readable form, as in `Cheese` or `capturectl`; a program's claim where the tier is `claimed`.
    public var name: String
    /// What the identity is made of, in words for the prompt and the journal.
    public var detail: String
    /// The file that answers are given for: the one that the process runs, or the script that it runs by `capturectl run`.
    public var executable: ExecutableFile?
    /// The interpreter that runs a script; `nil` where the process runs `executable` itself.
    public var interpreter: ExecutableFile?
    /// The process, as it was pinned when it was identified.
    public var pid: Int32
    /// The groups that it connected with; empty when they are not known.
    public var groups: [UInt32]
    /// The units that it runs in: the system's, and the user's own below it; empty when they are not known.
    public var units: [String]
    /// What the identity is made of, part by part; the file is in `executable`.
    public var parts: IdentityParts

    /// An identity of the given properties. Everything but tests gets one from `identify`.
    public init(
        program: String,
        tier: Tier,
        user: UInt32,
        name: String,
        detail: String,
        executable: ExecutableFile? = nil,
        interpreter: ExecutableFile? = nil,
        pid: Int32 = 0,
        groups: [UInt32] = [],
        units: [String] = [],
        parts: IdentityParts = IdentityParts()
    ) {
        self.program = program
        self.tier = tier
        self.user = user
        self.name = name
        self.detail = detail
        self.executable = executable
        self.interpreter = interpreter
        self.pid = pid
        self.groups = groups
        self.units = units
        self.parts = parts
    }

    /// By what tells most of them apart; equal is only what is equal in all.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(pid)
        hasher.combine(user)
        hasher.combine(program)
    }

    /// The user under whom its answers are stored: 0, the machine, for services and dedicated users.
    public var answerUser: UInt32 {
        tier.belongsToMachine ? 0 : user
    }

    /// The user under whom answers of a program id are stored, whoever is named beside it.
    public static func answerUser(of program: String, user: UInt32) -> UInt32 {
        isMachines(program) ? 0 : user
    }

    /// Whether answers of a program id are the machine's, whoever uses it: those of services and dedicated users.
    public static func isMachines(_ program: String) -> Bool {
        program.hasPrefix("unit:") || program.hasPrefix("uid:")
    }

    /// Whether another identity is the same program of the same user: by its id or, whatever unit or scope it has moved
    /// to, by its file. Interpreters' files tell nothing of the programs that they run.
    public func isSameProgram(as other: ClientIdentity) -> Bool {
        guard user == other.user else { return false }
        if program == other.program { return true }
        return files.contains { file in
            !file.isInterpreter && other.files.contains { file.device == $0.device && file.inode == $0.inode }
        }
    }

    /// The files that it is made of: the one that answers are given for, and the one that the process runs.
    package var files: [ExecutableFile] { [executable, interpreter].compactMap { $0 } }

    /// The file that the process runs.
    public var running: ExecutableFile? { interpreter ?? executable }

    /// Whether the file that it runs runs other programs' words, and so tells nothing of the program.
    public var runsInterpreter: Bool { interpreter != nil || executable?.isInterpreter == true }

    /// Whether a second look at the same connection found the same process running the same program.
    ///
    /// Any difference is a reason to refuse: a process that forks, leaves its socket to the child and then runs an
    /// allowed program differs here, as does one whose file was swapped.
    public func isUnchanged(in later: ClientIdentity) -> Bool {
        self == later
    }
}
