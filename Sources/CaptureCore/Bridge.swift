/// The way by which a program comes that was not written for captured, and gives no reason.
public enum Bridge: String, Hashable, Sendable, CaseIterable {
    /// It opens a camera as Video4Linux has them.
    case v4l2
    /// It opens a microphone as ALSA has them.
    case alsa
    /// It is a client of PipeWire.
    case pipewire
    /// It is a client of PulseAudio.
    case pulse

    /// Its name for people.
    public var title: String {
        switch self {
        case .v4l2: "V4L2"
        case .alsa: "ALSA"
        case .pipewire: "PipeWire"
        case .pulse: "PulseAudio"
        }
    }

    /// The sentence of a question about it. Programs that use PulseAudio all come as its server.
    public var claim: String {
        switch self {
        case .v4l2, .alsa, .pipewire: "It was not written for captured, and comes through \(title)."
        case .pulse: "These programs were not written for captured. A yes covers every program that uses \(title)."
        }
    }
}
