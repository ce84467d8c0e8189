public import CaptureCore

/// Where a stored answer comes from.
public enum AnswerReason: String, Hashable, Sendable {
    /// The person answered a prompt.
    case answer
    /// The person answered a prompt on the asking command's own terminal.
    case inlineAnswer = "inline-answer"
    /// Somebody changed it in settings: `capturectl auth set`.
    case settings
    /// Policy allows it: nobody was asked, and nothing is stored.
    case policy
    /// The person takes a photo or movie for the program: nothing is stored.
    case taking
}

/// One row of the store.
public struct StoredAnswer: Hashable, Sendable {
    /// The user whose answer it is; 0 for the machine's.
    public var user: UInt32
    /// The program's id.
    public var program: String
    /// What it is about.
    public var service: Service
    /// What the id was worth when the answer was given.
    public var tier: Tier
    /// The answer: `denied`, `authorized` or `limited`.
    public var status: AuthorizationStatus
    /// Where it comes from.
    public var reason: AnswerReason
    /// When it was given.
    public var time: AnswerTime
    /// The file that it was given for; `nil` when a no, or an answer of the machine's or a sandbox, holds for any file that
    /// runs under the id.
    public var executable: ExecutableFile?
    /// What the identity was made of, in words.
    public var detail: String
    /// Why the program said that it captures, as it was shown to the person; `nil` if nobody was asked. Stands until
    /// the person is asked again, whatever the program says meanwhile.
    public var usage: String? = nil
    /// How long it holds; `always` for a no.
    public var lifetime: GrantLifetime = .always
    /// When something was last allowed by it, to the hour; `nil` while nothing was.
    public var lastUsed: AnswerTime?

    /// Whether another one from settings says the same.
    func isSetting(as other: StoredAnswer) -> Bool {
        reason == .settings && other.reason == .settings && status == other.status && tier == other.tier
            && executable == other.executable && lifetime == other.lifetime
    }

    /// Whether it counts for nobody: a yes to a person's own program that was stored without all that tells its file from
    /// others, by an earlier version or by the name of a unit alone.
    var isNobodys: Bool {
        guard tier == .claimed, status != .denied else { return false }
        guard let executable else { return program.hasPrefix("app:") }
        return !executable.isProtected && executable.changed == nil
    }

    /// Whether the answer counts for a client of the same program id.
    ///
    /// The id of a service, a dedicated user or a sandbox says enough. A claimed one is bound to its file: another file
    /// at the same path, or another program in a unit of the same name, is another program. A no stays where the file was
    /// only changed, so that no program has itself asked about again by that; and a yes that names no file is nobody's.
    func counts(for client: ClientIdentity) -> Bool {
        guard tier == client.tier else { return false }
        guard client.tier == .claimed else { return true }
        guard let executable else { return status == .denied || client.executable == nil }
        guard let present = client.executable else { return false }
        return status == .denied ? executable.isInPlace(of: present) : executable.isSameProgram(as: present)
    }
}

/// A moment on two clocks, so that setting one of them back is noticed.
public struct AnswerTime: Hashable, Sendable {
    /// Milliseconds since 1970 by the wall clock.
    public var wall: Int64
    /// Milliseconds since the machine started, suspend included (CLOCK_BOOTTIME).
    public var sinceBoot: Int64
    /// Which start of the machine `sinceBoot` counts from: the kernel's `boot_id`.
    public var boot: String

    /// A moment of the given readings.
    public init(wall: Int64, sinceBoot: Int64, boot: String) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        self.boot = boot
    }
}
