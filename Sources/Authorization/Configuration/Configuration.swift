import CaptureCore

/// The daemon's configuration: `captured.conf` and `captured.conf.d/*.conf` in the form of systemd.syntax(7).
///
/// Of the main files, the one in the directory that is named last counts alone; drop-ins come after it, sorted by name
/// whatever directory they lie in, and one in a later directory hides one of the same name in an earlier one (an empty
/// file, or a link to `/dev/null`, hides it for good). A line that cannot be understood is reported, and has no effect.
public struct Configuration: Hashable, Sendable {
    /// The section `[Consent]`.
    public struct Consent: Hashable, Sendable {
        /// `PromptTimeoutSec=`: how long a question stays; 1 s to 1 h, 2 min by default.
        public var promptTimeout: Duration = .seconds(120)
        /// `ConnectionGraceSec=`: how long after its last connection a program still counts as open; 0 to 1 h, 10 s by
        /// default.
        public var connectionGrace: Duration = .seconds(10)
        /// `UnusedGrantsExpireSec=`: how long a yes lasts that is not used; 1 h to 10 years, `nil` for ever by default.
        public var unusedGrantsExpire: Duration?
        /// `PasswordForClaimed=`: whether a yes for a claimed identity takes the person's password; no by default.
        public var passwordForClaimed = false
        /// `PasswordForServices=`: whether a yes for a service or a dedicated user, which counts for everybody on the
        /// machine, takes the person's password on the system bus; yes by default.
        public var passwordForServices = true
        /// `StopWhenLocked=`: whether capturing stops while the user's session is locked or another user sits at the
        /// machine; no by default.
        public var stopWhenLocked = false

        /// `PromptLimitBurst=`: how many questions of a program may go without an answer; 1 to 100, 3 by default.
        public var promptLimitBurst = 3
        /// `PromptLimitIntervalSec=`: within what time; 0 (no limit) to 1 h, 1 min by default.
        public var promptLimitInterval: Duration = .seconds(60)

        /// What the gate is told of questions.
        public var promptLimits: PromptLimits {
            PromptLimits(burst: promptLimitBurst, interval: promptLimitInterval.milliseconds)
        }

        /// What the gate is told of answers.
        public var lifetimes: LifetimeLimits {
            LifetimeLimits(
                grace: connectionGrace.milliseconds,
                unused: unusedGrantsExpire?.milliseconds
            )
        }
    }

    /// The section `[Devices]`.
    public struct Devices: Hashable, Sendable {
        /// `SilenceTimeoutSec=`: how long a camera or microphone may deliver nothing usable to a recording before that ends;
        /// 1 s to 1 h, 5 s by default. A camera gets the time of three frames if that is longer.
        public var silenceTimeout: Duration = .seconds(5)
        /// `VendorControls=`: the cameras' own controls that programs may write, by V4L2's number; none by default.
        public var vendorControls: Set<UInt32> = []
    }

    /// The section `[History]`.
    public struct History: Hashable, Sendable {
        /// `KeepFor=`: how long an entry is kept after its end; 1 day to 10 years, 90 days by default.
        public var keepFor: Duration = .seconds(90 * 86_400)
        /// `MaxEntries=`: how many entries there are at most; 1,000 to 1,000,000, 100,000 by default.
        public var maxEntries = 100_000

        /// What the keeper of the history is told.
        public var limits: HistoryLimits {
            HistoryLimits(age: keepFor.milliseconds, count: maxEntries)
        }
    }

    /// The section `[Indicator]`.
    public struct Indicator: Hashable, Sendable {
        /// `LingerSec=`: how long a use of a device is still shown to indicators after its end; 0 to 1 min, 3 s by default.
        public var linger: Duration = .seconds(3)
    }

    /// The section `[Library]`.
    public struct Library: Hashable, Sendable {
        /// `ProgramQuota=`: bytes that what one program added may take of a user's library; 1 MiB to 1 EiB, `nil` for any
        /// number by default.
        public var programQuota: Int64?
        /// `UserQuota=`: bytes that a user's library may take; the same.
        public var userQuota: Int64?
        /// `KeepFree=`: bytes of the disk that the library leaves free; 0, or 1 MiB to 1 EiB, `nil` for 256 MiB or a
        /// sixteenth of a smaller disk by default.
        public var keepFree: Int64?
        /// `KeepDeletedFor=`: how long the bin keeps an asset; 1 day to 10 years, 30 days by default.
        public var keepDeletedFor: Duration = .seconds(30 * 86_400)
    }

    /// The section `[Synthetic]`.
    public struct Synthetic: Hashable, Sendable {
        /// `Enabled=`: whether there is a synthetic camera and microphone; no by default.
        public var enabled = false
        /// `Speed=`: how many times as fast as real time they run, 1 to 1000; 1 by default.
        public var speed = 1
        /// `ClockDriftPPM=`: how much the microphone's clock runs ahead of the camera's, in millionths, -1000 to 1000; 0
        /// by default.
        public var clockDriftPPM = 0
    }

    /// The section `[Recorder]`.
    public struct Recorder: Hashable, Sendable {
        /// `Socket=`: where systemd starts a recorder for each connection.
        public var socket = "/run/captured-recorder.socket"
        /// `Command=`: the recorder's program, started as a child instead; empty by default.
        public var command = ""
        /// `PreRollMemory=`: bytes of encoded pictures and sound that a recorder keeps from before a movie begins; 1 MiB to
        /// 1 GiB, 64 MiB by default.
        public var preRollMemory: Int64 = RecordingJob.usualPreRollBytes
    }

    /// How people are asked.
    public var consent = Consent()
    /// What cameras and microphones may do.
    public var devices = Devices()
    /// What is remembered of uses and decisions.
    public var history = History()
    /// What indicators are shown.
    public var indicator = Indicator()
    /// The users' media libraries.
    public var library = Library()
    /// Devices that need no hardware.
    public var synthetic = Synthetic()
    /// The processes that write files.
    public var recorder = Recorder()
    /// What was wrong, as `file:line: message`.
    public var problems: [KeyFileProblem] = []

    /// The defaults.
    public init() {}

    /// Reads the configuration. Never fails: what is wrong is in `problems`.
    ///
    /// - Parameter directories: Where to look, the vendor's first and the administrator's last.
    public init(directories: [String]) {
        for directory in directories.reversed() where read(directory + "/captured.conf") { break }
        var dropIns: [String: String] = [:]
        for folder in directories.map({ $0 + "/captured.conf.d" }) {
            for name in FolderListing.names(in: folder, suffix: ".conf") { dropIns[name] = folder + "/" + name }
        }
        for (_, path) in dropIns.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) { _ = read(path) }
    }

    /// - Returns: Whether the file is there.
    private mutating func read(_ path: String) -> Bool {
        switch SmallFile.readConfiguration(path) {
        case .absent: return false
        case .unusable(let why): problems.append(KeyFileProblem(file: path, line: 0, message: why))
        case .text(let text): apply(KeyFile(parsing: text, path: path, dialect: .systemd))
        }
        return true
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
