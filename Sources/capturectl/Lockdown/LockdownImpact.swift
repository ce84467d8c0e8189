import CaptureKit

/// What the lockdown stops, to be said before it is done.
struct LockdownImpact {
    /// The servers that capture for others; by the kernel's name, of 15 characters.
    static let servers: Set<String> = ["pipewire", "pipewire-pulse", "wireplumber", "pipewire-media-", "pulseaudio"]

    /// Who has a node now.
    var holders: [NodeHolder]
    /// The sound servers that run now, as in `pipewire (process 812 of alice)`.
    var running: [String]

    init(_ machine: Machine, daemon: UInt32?, names: AccountNames = AccountNames()) {
        holders = machine.holders(of: machine.lockdownNodes.map(\.path)).filter { $0.user != daemon }
        running = machine.processes(named: LockdownImpact.servers).map {
            "\($0.name) (process \($0.process) of \(names.user($0.user)))"
        }
    }

    /// What stops.
    var text: String {
        let now = running.isEmpty ? "none of them runs now" : "running now: " + running.joined(separator: ", ")
        return """
            captured alone will open the cameras and microphones of this machine. This stops:
              PipeWire's own camera and microphone capture (PipeWire, WirePlumber, PulseAudio), and so that of the programs
                which capture through it, browsers and the desktop's camera portal among them; playback goes on
                (\(Printable.text(now, limit: 1000)))
              programs of users that open the nodes themselves, such as motion, OBS Studio, guvcview, ffmpeg and arecord,
                or that feed a virtual camera (v4l2loopback); those of root go on
            'capturectl lockdown off' undoes it.
            """
    }

    /// Who keeps a node, and what is to be done about it; empty when nobody does.
    func keeping(names: AccountNames = AccountNames()) -> String {
        if holders.isEmpty { return "" }
        let processes = Set(holders.map(\.process)).sorted().map { "\($0)" }.joined(separator: " ")
        return """
            These hold a node now, and keep it until they close it, since the kernel takes none back:
            \(LockdownPresentation.table(holders, names: names))End them to make it whole: kill \(processes)
            """
    }
}
