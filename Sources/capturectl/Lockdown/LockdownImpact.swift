import CaptureKit

/// What the lockdown stops, to be said before it is turned on.
struct LockdownImpact {
    /// How a program gets at cameras and microphones.
    private enum Way {
        /// It captures for others.
        case server
        /// It opens cameras itself, and gets microphones from a sound server.
        case browser
        /// It opens the nodes itself.
        case opener

        var loses: String {
            switch self {
            case .server: "cameras and microphones, also for programs that capture through it"
            case .browser: "cameras, and microphones through the sound server"
            case .opener: "cameras and microphones that it opens itself"
            }
        }
        /// By which interfaces it captures, if its file does not tell.
        var uses: [Bridge] {
            switch self {
            case .server: []
            case .browser: [.v4l2, .pulse]
            case .opener: [.v4l2, .alsa]
            }
        }
    }

    /// Known programs by the kernel's name, of 15 characters.
    private static let known: [String: Way] = {
        let names: [(Way, String)] = [
            (.server, "pipewire pipewire-pulse wireplumber pipewire-media- pulseaudio jackd jackdbus"),
            (.browser, "firefox firefox-esr chrome chromium brave vivaldi-bin opera epiphany msedge"),
            (.browser, "zoom teams-for-linux skypeforlinux Discord slack signal-desktop telegram-deskto"),
            (.opener, "obs cheese guvcview kamoso webcamoid motion motioneye mjpg_streamer ustreamer vlc mpv ffmpeg"),
            (.opener, "ffplay gst-launch-1.0 v4l2-ctl fswebcam arecord audacity ardour sox rec qv4l2 snapshot"),
        ]
        return Dictionary(
            names.flatMap { way, names in names.split(separator: " ").map { (String($0), way) } },
            uniquingKeysWith: { first, _ in first }
        )
    }()

    /// Whether many people capture with a program of that name.
    static func isKnown(_ name: String) -> Bool { known[String(name.prefix(15))] != nil }

    /// A running program that loses something, once per user.
    private struct Row: Hashable {
        var name: String
        var user: UInt32
    }

    /// Who has a node now.
    var holders: [NodeHolder]
    private let rows: [(row: Row, count: Int, way: Way)]
    private let programs: ProgramPresentation
    private let names: AccountNames

    /// - Parameter programs: The installed programs, and how they come to captured once it is on.
    init(_ machine: Machine, daemon: UInt32?, programs: ProgramPresentation, names: AccountNames = AccountNames()) {
        (self.programs, self.names) = (programs, names)
        holders = LockdownImpact.holders(machine, daemon: daemon)
        var counts: [Row: Set<Int>] = [:]
        for process in machine.processes(named: Set(LockdownImpact.known.keys)) {
            counts[Row(name: process.name, user: process.user), default: []].insert(process.process)
        }
        // Include these whatever their names are.
        for holder in holders where holder.user != 0 {
            counts[Row(name: holder.name, user: holder.user), default: []].insert(holder.process)
        }
        rows = counts.map { ($0.key, $0.value.count, LockdownImpact.known[$0.key.name] ?? .opener) }
            .sorted { ($0.row.name, $0.row.user) < ($1.row.name, $1.row.user) }
    }

    /// Who has a node open that the lockdown is about, beside the daemon.
    static func holders(_ machine: Machine, daemon: UInt32?) -> [NodeHolder] {
        machine.holders(of: machine.lockdownNodes.map(\.path)).filter { $0.user != daemon }
    }

    /// How a running program captures afterwards.
    private func afterwards(_ row: Row, _ way: Way) -> String {
        if way == .server {
            let serves = programs.states.isOn(.pipewire) && row.name != "pulseaudio" && !row.name.hasPrefix("jack")
            return serves
                ? "plays, and its programs capture by the PipeWire bridge" : "plays, and its programs don't capture"
        }
        // The kernel's name of a process has 15 characters.
        let program =
            programs.survey.programs.first { $0.names.contains { $0.prefix(15) == row.name } }
            ?? CaptureProgram(names: [row.name], path: "", uses: way.uses, obstacle: nil)
        let served = program.uses.filter { programs.way(program, $0).isServed }.map(\.title)
        if let obstacle = program.obstacle, served.isEmpty { return "doesn't capture: \(obstacle.text)" }
        if served.isEmpty { return "doesn't capture" }
        return "captures by \(served.joined(separator: ", ")), when started again"
    }

    /// What stops: for each running program, and for programs that may be started.
    var text: String {
        var table = Table(["RUNNING NOW", "OF", "LOSES", "AFTERWARDS"])
        for (row, count, way) in rows.prefix(40) {
            let times = count > 1 ? " (\(count) times)" : ""
            table.add([row.name + times, names.user(row.user), way.loses, afterwards(row, way)])
        }
        let rest = rows.count > 40 ? "and \(rows.count - 40) more\n" : ""
        let now = rows.isEmpty ? "No running program is known to capture.\n" : table.text + rest
        return """
            Only captured will be able to open the cameras and microphones of this machine.
            \(now)For all programs, running or started later:
              PipeWire, WirePlumber and PulseAudio lose cameras and microphones, and so do programs that capture through
                them, unless the PipeWire bridge is on; playback continues
              users' programs can open no capture node and feed no virtual camera (v4l2loopback); root's programs still can
              microphones of Bluetooth headsets have no node: they stay as they are
              programs that capture through captured continue
            'capturectl lockdown off' undoes it.
            """
    }

    /// Which programs keep a node open, and what to do about it; empty if none does.
    func keeping(names: AccountNames = AccountNames()) -> String {
        if holders.isEmpty { return "" }
        let processes = Set(holders.map(\.process)).sorted().map { "\($0)" }.joined(separator: " ")
        return """
            These programs keep their open nodes until they close them; the kernel cannot take an open node away:
            \(LockdownPresentation.table(holders, names: names).text)To complete the lockdown, end them: kill \(processes)
            """
    }
}
