import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc

/// Where things lie: the machine's directories on the system bus, the user's elsewhere.
struct Places: Sendable {
    /// Answers; 0700.
    let state: String
    /// Vendor's configuration, then the administrator's.
    let configuration: [String]
    /// The command line that ships with this daemon.
    let commandLine: String
    /// Where programs' files are looked for.
    let root: SystemRoot
    private let options: DaemonOptions

    init(_ options: DaemonOptions) {
        self.options = options
        let home = Places.variable("HOME") ?? "/"
        let ownDirectory = Places.ownDirectory
        root = SystemRoot(ofProcessOne: options.isSystem)
        if options.isSystem {
            // systemd names the directories that it made for the unit.
            state = options.stateDirectory ?? Places.variable("STATE_DIRECTORY") ?? "/var/lib/captured"
            configuration =
                options.configDirectory.map { [$0] }
                ?? Places.vendors(of: ownDirectory).map { $0 + "/lib/captured" } + ["/etc/captured"]
        } else {
            let states = Places.variable("XDG_STATE_HOME") ?? home + "/.local/state"
            state = options.stateDirectory ?? states + "/captured"
            configuration = options.configDirectory.map { [$0] } ?? [Places.userConfiguration(home)]
        }
        // Beside the daemon in a build folder; in PREFIX/bin for a daemon in PREFIX/libexec.
        let beside = ownDirectory + "/capturectl"
        commandLine =
            unsafe access(beside, X_OK) == 0 ? beside : Places.directory(of: ownDirectory) + "/bin/capturectl"
    }

    /// The users' media libraries.
    var libraries: String { state + "/library" }

    func readConfiguration() -> Configuration {
        Configuration(directories: configuration)
    }

    /// Which yes takes a password. On a session bus everybody is one user, and answers are that user's alone.
    func passwords(_ configuration: Configuration) -> PasswordNeeds {
        PasswordNeeds(
            claimed: configuration.consent.passwordForClaimed,
            services: options.isSystem && configuration.consent.passwordForServices
        )
    }

    /// What the administrator has decided: on the system bus by root alone.
    func readPolicy() -> Policy {
        Policy(directories: configuration, ownedBy: options.isSystem ? [0] : nil, accounts: .system)
    }

    /// Where programs say why they capture.
    ///
    /// - Parameter activeUser: The user at the active seat, who is asked about services.
    func usageDescriptions(activeUser: @escaping @Sendable () -> UInt32?) -> MetadataUsageDescriptions {
        let locales = UserLocales()
        let vendors = Places.vendors(of: Places.ownDirectory).reversed()
        var own = ["/etc/captured/apps.d"] + vendors.map { $0 + "/lib/captured/apps.d" }
        if !options.isSystem {
            own.insert(Places.userConfiguration(Places.variable("HOME") ?? "/") + "/apps.d", at: 0)
        }
        return MetadataUsageDescriptions(
            applications: [
                "/usr/local/share/applications", "/usr/share/applications",
                "/var/lib/flatpak/exports/share/applications",
                "/var/lib/snapd/desktop/applications",
            ],
            units: [
                "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
                "/etc/systemd/system", "/run/systemd/system", "/run/systemd/generator",
                "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
            ],
            userUnits: [
                "/etc/systemd/user", "/run/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
            ],
            snaps: ["/snap", "/var/lib/snapd/snap"],
            overrides: own,
            sandboxes: FlatpakFiles(root: root)
        ) { client in
            let reader = client.tier.belongsToMachine ? activeUser() : client.user
            return locales.locale(of: reader.map(Users.name) ?? "")
        }
    }

    /// How recorders are had: from systemd on the system bus, as children elsewhere.
    func recorder(_ configuration: Configuration) -> RecorderOrigin {
        if let program = options.recorder { return .program(path: program) }
        if !configuration.recorder.command.isEmpty { return .program(path: configuration.recorder.command) }
        if options.isSystem { return .socket(path: configuration.recorder.socket) }
        return .program(path: Places.ownDirectory + "/captured-recorder")
    }

    /// The directory of the control socket. systemd makes it for the system bus; otherwise the daemon does.
    var runtime: String {
        switch options.bus {
        case .system: Places.variable("RUNTIME_DIRECTORY") ?? "/run/captured"
        case .session: (Places.variable("XDG_RUNTIME_DIR") ?? state) + "/captured"
        case .address: state + "/run"
        }
    }

    /// Makes that directory if it is missing.
    ///
    /// - Returns: Its path.
    func makeRuntime() throws(CaptureError) -> String {
        let path = runtime
        guard unsafe mkdir(path, 0o755) != 0, errno != EEXIST else { return path }
        throw CaptureError(.inputOutput, SystemError("make \(path)", errno: errno))
    }

    /// The program that holds other programs' descriptors; installed beside the daemon.
    var door: String { Places.ownDirectory + "/captured-door" }

    /// The bridge of PipeWire's clients; installed beside the daemon.
    var pipewire: String { Places.ownDirectory + "/captured-pipewire" }

    /// Where this program lies.
    private static var ownDirectory: String {
        directory(of: Files.link(at: "/proc/self/exe") ?? "/usr/libexec/captured")
    }

    private static func userConfiguration(_ home: String) -> String {
        (variable("XDG_CONFIG_HOME") ?? home + "/.config") + "/captured"
    }

    /// Where vendors put their files: `/usr`, and the PREFIX that this daemon was installed to, which counts more.
    private static func vendors(of programs: String) -> [String] {
        guard programs.hasSuffix("/libexec") else { return ["/usr"] }
        let prefix = directory(of: programs)
        return prefix == "/usr" || prefix == "/" ? ["/usr"] : ["/usr", prefix]
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
