import CaptureKit

/// How a program that does not know captured comes to it, by one interface.
struct ProgramWay: Equatable {
    /// What brings it.
    enum Means: String {
        /// The V4L2 library, in every program.
        case preload
        /// The V4L2 library, in a program that is started with it.
        case captureRun = "capture-run"
        case alsaDefault = "alsa-default"
        case alsaDevice = "alsa-device"
        case pipeWire = "pipewire"
        /// Nothing.
        case none
    }

    var means: Means
    var text: String

    /// Whether captured is asked.
    var isServed: Bool { means != .none }

    /// - Parameters:
    ///   - states: The bridges.
    ///   - server: Whether PipeWire serves programs of PulseAudio's, in place of its own daemon.
    init(_ program: CaptureProgram, by interface: Bridge, _ states: [BridgeState], isPulsePipeWire: Bool) {
        if let obstacle = program.obstacle, obstacle.hinders(interface) {
            self.init(means: .none, text: "not reached: \(obstacle.text)")
            return
        }
        func missing(_ bridge: Bridge) -> ProgramWay {
            ProgramWay(means: .none, text: "not yet: \(bridge.package) is not installed")
        }
        switch interface {
        case .v4l2:
            if states.isOn(.v4l2) {
                self.init(means: .preload, text: "as always, by the V4L2 library")
            } else if states.isInstalled(.v4l2) {
                self.init(means: .captureRun, text: "capture-run")
            } else {
                self = missing(.v4l2)
            }
        case .alsa:
            if states.isOn(.alsa) {
                self.init(means: .alsaDefault, text: "as always, by ALSA's default")
            } else if states.isInstalled(.alsa) {
                self.init(means: .alsaDevice, text: "ALSA's device captured")
            } else {
                self = missing(.alsa)
            }
        case .pulse where !isPulsePipeWire:
            self.init(means: .none, text: "not reached: PipeWire does not serve PulseAudio")
        case .pulse, .pipewire:
            if !states.isInstalled(.pipewire) {
                self = missing(.pipewire)
            } else if !states.isOn(.pipewire) {
                self.init(means: .none, text: "not yet: the PipeWire bridge is off")
            } else {
                let name = interface == .pipewire ? "" : ", as PulseAudio applications"
                self.init(means: .pipeWire, text: "as always, by PipeWire\(name)")
            }
        }
    }

    private init(means: Means, text: String) {
        (self.means, self.text) = (means, text)
    }
}
