public import Authorization
import CALSA
public import CaptureCore
import Glibc

/// A microphone's settings: the capture volumes and switches of its card, by alsa-lib's simple mixer.
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

    /// Every capture volume and switch, named `mic_volume`, `mic_switch` and so on, with its value on the first channel;
    /// none on a card without. Drivers name no default for a volume: it is the value now.
    ///
    /// - Throws: `.inputOutput` when the card does not answer.
    public func list() throws(CaptureError) -> [DeviceControl] {
        var found: [DeviceControl] = []
        unsafe try visit { _, control in
            found.append(control)
            return 0
        }
        return found
    }

    /// Sets a volume or switch, on all channels.
    ///
    /// - Throws: `.invalidArgument` naming the controls or the range, `.inputOutput`.
    public func set(_ name: String, to value: Int64) throws(CaptureError) {
        var names: [String] = []
        var refusal: CaptureError?
        var isDone = false
        unsafe try visit { element, control in
            names.append(control.name)
            guard control.name == name, !isDone else { return 0 }
            isDone = true
            guard (control.minimum...control.maximum).contains(value) else {
                let range = "\(control.minimum) to \(control.maximum)"
                refusal = CaptureError(.invalidArgument, "\(name) takes \(range), not \(value)")
                return 0
            }
            return control.kind == .boolean
                ? unsafe snd_mixer_selem_set_capture_switch_all(element, Int32(value))
                : unsafe snd_mixer_selem_set_capture_volume_all(element, Int(value))
        }
        if let refusal { throw refusal }
        if !isDone {
            let known = names.isEmpty ? "the card has none" : "there are " + names.joined(separator: ", ")
            throw CaptureError(.invalidArgument, "there is no control '\(name)'; \(known)")
        }
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

    /// Shows every capture control; stops at the first negative answer.
    private func visit(_ body: (OpaquePointer, DeviceControl) -> Int32) throws(CaptureError) {
        func check(_ code: Int32) throws(CaptureError) {
            guard code < 0 else { return }
            throw CaptureError(.inputOutput, ALSAFailure("the mixer of sound card \(card)", code).text, errno: -code)
        }
        _ = calsa_quiet()
        var opened: OpaquePointer?
        unsafe try check(snd_mixer_open(&opened, 0))
        guard let mixer = unsafe opened else { return }
        defer { unsafe snd_mixer_close(mixer) }
        unsafe try check(snd_mixer_attach(mixer, "hw:\(card)"))
        unsafe try check(snd_mixer_selem_register(mixer, nil, nil))
        unsafe try check(snd_mixer_load(mixer))
        var next = unsafe snd_mixer_first_elem(mixer)
        while let element = unsafe next {
            for control in unsafe ALSAControls.describe(element) { unsafe try check(body(element, control)) }
            unsafe next = unsafe snd_mixer_elem_next(element)
        }
    }

    private static func describe(_ element: OpaquePointer) -> [DeviceControl] {
        let label = unsafe snd_mixer_selem_get_name(element).map { unsafe String(cString: $0) } ?? "Capture"
        let index = unsafe snd_mixer_selem_get_index(element)
        let base = controlName(label) + (index == 0 ? "" : "_\(index)")
        var found: [DeviceControl] = []
        if unsafe snd_mixer_selem_has_capture_volume(element) != 0 {
            var (least, most, now) = (0, 0, 0)
            unsafe snd_mixer_selem_get_capture_volume_range(element, &least, &most)
            unsafe snd_mixer_selem_get_capture_volume(element, SND_MIXER_SCHN_MONO, &now)
            // An empty range is left out.
            if least <= most {
                found.append(
                    DeviceControl(
                        name: base + "_volume",
                        label: "\(label) Volume",
                        kind: .integer,
                        minimum: Int64(least),
                        maximum: Int64(most),
                        step: 1,
                        defaultValue: Int64(now),
                        value: Int64(now)
                    )
                )
            }
        }
        if unsafe snd_mixer_selem_has_capture_switch(element) != 0 {
            var now: Int32 = 0
            unsafe snd_mixer_selem_get_capture_switch(element, SND_MIXER_SCHN_MONO, &now)
            found.append(
                DeviceControl(
                    name: base + "_switch",
                    label: "\(label) Switch",
                    kind: .boolean,
                    minimum: 0,
                    maximum: 1,
                    step: 1,
                    defaultValue: 1,
                    value: Int64(now)
                )
            )
        }
        return found
    }

    /// A label in lower case with underscores, as in `mic_boost`.
    static func controlName(_ label: String) -> String {
        label.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    }
}
