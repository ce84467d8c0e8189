import CaptureKit

extension Bridge {
    /// Those that are installed and turned on; that of PipeWire serves programs of PulseAudio's, too.
    static let installable: [Bridge] = [.v4l2, .alsa, .pipewire]
    /// All of them, in the order of tables.
    static let listed: [Bridge] = [.v4l2, .alsa, .pulse, .pipewire]

    /// What installs it.
    var package: String {
        switch self {
        case .v4l2: "captured-v4l2"
        case .alsa: "captured-alsa"
        case .pipewire, .pulse: "captured-pipewire"
        }
    }
}

/// How a bridge is.
struct BridgeState: Equatable {
    var bridge: Bridge
    var isInstalled: Bool
    /// Whether programs use it without being told to.
    var isOn: Bool
    /// Whether `lockdown on` turned it on.
    var isByLockdown: Bool
    /// The file or unit that turns it on.
    var place: String
    /// What is wrong with it; empty if nothing is.
    var fault = ""
    /// Whether the fault harms programs that do not capture at all.
    var isHarmful = false
    /// The command that mends the fault.
    var remedy = ""

    /// In a word.
    var word: String { isOn ? "on" : isInstalled ? "off" : "not installed" }
}

extension [BridgeState] {
    func isOn(_ bridge: Bridge) -> Bool { contains { $0.bridge == bridge && $0.isOn && $0.isInstalled } }
    func isInstalled(_ bridge: Bridge) -> Bool { contains { $0.bridge == bridge && $0.isInstalled } }

    /// As they are once those that are installed are on.
    var turnedOn: [BridgeState] {
        map { state in
            var state = state
            state.isOn = state.isOn || state.isInstalled
            return state
        }
    }

    /// In a line, as in `bridges: V4L2 on, ALSA on, PipeWire not installed`.
    var text: String { "bridges: " + map { "\($0.bridge.title) \($0.word)" }.joined(separator: ", ") }

    var json: JSON {
        .array(
            map {
                [
                    "bridge": JSON($0.bridge.title), "installed": JSON($0.isInstalled), "on": JSON($0.isOn),
                    "byLockdown": JSON($0.isByLockdown), "place": JSON($0.place), "fault": JSON($0.fault),
                ]
            }
        )
    }
}

extension Bridges {
    /// What `turnOn` will do, to be said before.
    func plan(_ states: [BridgeState]) -> String {
        var lines = [
            "Programs that do not know captured come to it by bridges, which ask for each. --no-bridges leaves them alone:"
        ]
        for state in states {
            let text =
                switch (state.bridge, state.isInstalled, state.isOn) {
                case (_, _, true): "is on already"
                case (_, false, _): "is not installed: these programs capture nothing (\(state.bridge.package))"
                case (.v4l2, _, _):
                    "is turned on: every program that starts from now on loads a library, by \(state.place)"
                case (.alsa, _, _):
                    "is turned on: default, sysdefault and plughw capture through captured, by \(state.place)"
                case (.pipewire, _, _), (.pulse, _, _): "is turned on: \(state.place) runs for everybody"
                }
            lines.append("  \(state.bridge.title) \(text)")
            if state.bridge == .v4l2, state.isInstalled, !state.isOn { lines += strangers.map { "    \($0)" } }
        }
        return lines.joined(separator: "\n")
    }

    /// Programs that see the list of libraries, but not the library.
    private var strangers: [String] {
        var kinds: [String] = []
        if machine.exists("/lib/ld-linux.so.2"), machine.exists("/lib64/ld-linux-x86-64.so.2") {
            kinds.append("for 32 bits")
        }
        if machine.exists("/snap/bin") { kinds.append("in snaps") }
        if kinds.isEmpty { return [] }
        return ["programs \(kinds.joined(separator: " and ")) cannot load it, and print an error as they start"]
    }
}
