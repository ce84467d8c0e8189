public import Authorization
public import CaptureCore

/// A microphone's settings: the capture volumes and switches of its card's mixer.
///
/// Thread-safe. The mixer is opened for each call, which disturbs nobody who streams.
public final class ALSAControls: DeviceSettings {
    private let card: Int

    /// The settings of a microphone's card.
    ///
    /// - Parameters:
    ///   - device: The microphone, as a probe or monitor described it.
    ///   - grant: A live grant for microphones.
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.noSuchDevice`.
    public static func open(_ device: DeviceDescription, grant: Grant) throws(CaptureError) -> ALSAControls {
        try grant.require(.microphone)
        guard let address = PCMAddress(device) else {
            throw CaptureError(.noSuchDevice, "\(device.name) is no ALSA microphone")
        }
        return ALSAControls(card: address.card)
    }

    init(card: Int) {
        self.card = card
    }

    /// Every capture volume and switch, with its value on the first channel; none on a card without.
    ///
    /// - Throws: `.inputOutput` when the card does not answer.
    public func list() throws(CaptureError) -> [DeviceControl] {
        try ALSAMixer.controls(ofCard: card)
    }

    /// Sets a volume or switch, on all channels.
    ///
    /// - Throws: `.invalidArgument` naming the controls or the range, `.inputOutput`.
    public func set(_ name: String, to value: Int64) throws(CaptureError) {
        try ALSAMixer.set(ofCard: card, name, value)
    }

    /// A sound card is not watched.
    ///
    /// - Throws: `.invalidArgument`, always.
    public func watch(
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(CaptureError) -> any ControlWatch {
        throw CaptureError(.invalidArgument, "captured does not watch sound cards; read their settings again instead")
    }
}
