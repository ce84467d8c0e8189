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
        var keeps: String {
            switch self {
            case .server: "playback"
            case .browser: "everything else, including sound"
            case .opener: "everything else"
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

    /// A running program that loses something, once per user.
    private struct Row: Hashable {
        var name: String
        var user: UInt32
    }

    /// Who has a node now.
    var holders: [NodeHolder]
    private let rows: [(row: Row, count: Int, way: Way)]
    private let names: AccountNames

    init(_ machine: Machine, daemon: UInt32?, names: AccountNames = AccountNames()) {
        self.names = names
        holders = machine.holders(of: machine.lockdownNodes.map(\.path)).filter { $0.user != daemon }
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

    /// What stops: for each running program, and for programs that may be started.
    var text: String {
        var table = Table(["RUNNING NOW", "OF", "LOSES", "KEEPS"])
        for (row, count, way) in rows.prefix(40) {
            let times = count > 1 ? " (\(count) times)" : ""
            table.add([row.name + times, names.user(row.user), way.loses, way.keeps])
        }
        let rest = rows.count > 40 ? "and \(rows.count - 40) more\n" : ""
        let now = rows.isEmpty ? "No running program is known to capture.\n" : table.text + rest
        return """
            Only captured will be able to open the cameras and microphones of this machine.
            \(now)For all programs, running or started later:
              PipeWire, WirePlumber and PulseAudio lose cameras and microphones, and so do programs that capture through
                them, such as browsers and the desktop's camera portal; playback continues
              users' programs can open no capture node and feed no virtual camera (v4l2loopback); root's programs still can
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
