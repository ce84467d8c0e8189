import CALSA
import CaptureCore
import Glibc

/// The capture volumes and switches of a card, by alsa-lib's simple mixer. Reentrant: each call opens and closes.
enum ALSAMixer {
    /// Every capture volume and switch of a card, named `mic_volume`, `mic_switch` and so on. Drivers name no default for
    /// a volume: it is the value now.
    static func controls(ofCard card: Int) throws(CaptureError) -> [DeviceControl] {
        var found: [DeviceControl] = []
        unsafe try visit(card) { _, control in
            found.append(control)
            return 0
        }
        return found
    }

    /// Sets one on all channels.
    ///
    /// - Throws: `.invalidArgument` naming the controls or the range, `.inputOutput`.
    static func set(ofCard card: Int, _ name: String, _ value: Int64) throws(CaptureError) {
        var names: [String] = []
        var refusal: CaptureError?
        var isDone = false
        unsafe try visit(card) { element, control in
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

    /// Shows every capture control; stops at the first negative answer.
    private static func visit(
        _ card: Int,
        _ body: (OpaquePointer, DeviceControl) -> Int32
    ) throws(CaptureError) {
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
            for control in unsafe describe(element) { unsafe try check(body(element, control)) }
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
