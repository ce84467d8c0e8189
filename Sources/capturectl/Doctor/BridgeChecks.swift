import CaptureKit

/// What the doctor says of the bridges.
struct BridgeChecks {
    /// Whether the lockdown is on.
    let isLocked: Bool

    /// One bridge.
    func judge(_ state: BridgeState) -> Finding {
        if state.isHarmful { return .problem("bridges", state.fault, state.remedy) }
        if !state.fault.isEmpty { return .advice("bridges", "\(state.bridge.title): \(state.fault)", state.remedy) }
        if state.isOn { return .fine("bridges", on(state)) }
        if !state.isInstalled {
            return isLocked
                ? .advice(
                    "bridges",
                    "\(loss(state.bridge)), because \(state.bridge.package) is not installed",
                    install(state.bridge)
                )
                : .fine("bridges", "\(state.bridge.title) is not bridged: \(state.bridge.package) is not installed")
        }
        return isLocked
            ? .advice("bridges", "\(loss(state.bridge)), because the bridge is off", "sudo capturectl lockdown on")
            : .fine("bridges", off(state.bridge))
    }

    private func install(_ bridge: Bridge) -> String {
        "sudo apt-get install \(bridge.package) && sudo capturectl lockdown on  # from captured's packages"
    }

    private func on(_ state: BridgeState) -> String {
        switch state.bridge {
        case .v4l2: "V4L2 programs come to captured by its library, which \(state.place) puts into every program"
        case .alsa: "ALSA programs come to captured by their default device, as \(state.place) says"
        case .pipewire, .pulse: "PipeWire programs come to captured by \(state.place)"
        }
    }

    private func off(_ bridge: Bridge) -> String {
        switch bridge {
        case .v4l2: "V4L2 programs come to captured if they are started by capture-run"
        case .alsa: "ALSA programs come to captured if they record from the device captured"
        case .pipewire, .pulse: "PipeWire programs capture without captured: \(Bridges.unit) is off"
        }
    }

    private func loss(_ bridge: Bridge) -> String {
        switch bridge {
        case .v4l2: "the lockdown takes V4L2 programs their cameras, unless they are started by capture-run"
        case .alsa: "the lockdown takes ALSA programs their microphones, unless they record from the device captured"
        case .pipewire, .pulse: "the lockdown takes PipeWire and PulseAudio programs cameras and microphones"
        }
    }
}
