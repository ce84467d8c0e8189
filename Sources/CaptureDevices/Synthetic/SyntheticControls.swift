import CaptureCore
import Synchronization

/// A number that any thread may set and a device thread looks at once a frame.
final class ControlValue: Sendable {
    private let value: Atomic<Int64>

    init(_ initial: Int64) { value = Atomic(initial) }

    var now: Int64 {
        get { value.load(ordering: .acquiring) }
        set { value.store(newValue, ordering: .releasing) }
    }

    /// The value, which is 0 from here on: for buttons, which act once a press.
    func take() -> Int64 { value.exchange(0, ordering: .acquiringAndReleasing) }
}

/// The controls of a synthetic device: the faults that it can be made to have, which vivid calls error injection, and the
/// microphone's mute.
///
/// They belong to the device and outlive its streams, so that they can be set before it is opened. Thread-safe.
final class SyntheticControls: Sendable {
    /// A control and where its value is kept.
    struct Entry: Sendable {
        let control: DeviceControl
        let value: ControlValue
    }

    /// Camera: every so-maniest frame is lost on its way, 0 for none.
    let dropEvery = ControlValue(0)
    /// Camera: every so-maniest buffer comes flagged as broken, 0 for none.
    let errorEvery = ControlValue(0)
    /// Microphone: presses of the button that makes it overrun.
    let forceXrun = ControlValue(0)
    /// Microphone: how much an overrun loses, in milliseconds.
    let xrunMilliseconds = ControlValue(50)
    /// Microphone: how much too fast its sample clock runs, in millionths.
    let clockDrift = ControlValue(0)
    /// Microphone: 1 while it is muted.
    let mute = ControlValue(0)
    /// Both: presses of the button that pulls the cable.
    let disconnect = ControlValue(0)

    let entries: [Entry]

    init(_ mediaType: MediaType) {
        let pull = Entry(Self.button("disconnect", "Disconnect"), disconnect)
        switch mediaType {
        case .video:
            entries = [
                Entry(Self.number("drop_every", "Lose Every Nth Frame", 0...100_000, 0), dropEvery),
                Entry(Self.number("error_every", "Break Every Nth Frame", 0...100_000, 0), errorEvery),
                pull,
            ]
        case .audio:
            entries = [
                Entry(Self.button("force_xrun", "Force an Overrun"), forceXrun),
                Entry(Self.number("xrun_milliseconds", "Length of an Overrun", 1...5000, 50), xrunMilliseconds),
                Entry(Self.number("clock_drift_ppm", "Sample Clock Too Fast by", -1000...1000, 0), clockDrift),
                Entry(Self.toggle("mute", "Mute"), mute),
                pull,
            ]
        }
    }

    /// The controls with their values now; a button's value is 0.
    var current: [DeviceControl] {
        entries.map { entry in
            var control = entry.control
            control.value = control.kind == .button ? 0 : entry.value.now
            return control
        }
    }

    /// Sets a control, or presses a button with any value.
    ///
    /// - Throws: `.invalidArgument` naming the controls, or the range.
    func set(_ name: String, _ value: Int64) throws(CaptureError) {
        guard let entry = entries.first(where: { $0.control.name == name }) else {
            let names = entries.map(\.control.name).joined(separator: ", ")
            throw CaptureError(.invalidArgument, "there is no control '\(name)'; there are \(names)")
        }
        let control = entry.control
        if control.kind == .button {
            entry.value.now = 1
            return
        }
        guard (control.minimum...control.maximum).contains(value) else {
            let range = "\(control.minimum) to \(control.maximum)"
            throw CaptureError(.invalidArgument, "\(name) takes \(range), not \(value)")
        }
        entry.value.now = value
    }

    private static func button(_ name: String, _ label: String) -> DeviceControl {
        DeviceControl(
            name: name,
            label: label,
            kind: .button,
            minimum: 0,
            maximum: 0,
            step: 0,
            defaultValue: 0,
            value: 0
        )
    }

    private static func toggle(_ name: String, _ label: String) -> DeviceControl {
        var control = number(name, label, 0...1, 0)
        control.kind = .boolean
        return control
    }

    private static func number(
        _ name: String,
        _ label: String,
        _ range: ClosedRange<Int64>,
        _ standard: Int64
    ) -> DeviceControl {
        DeviceControl(
            name: name,
            label: label,
            kind: .integer,
            minimum: range.lowerBound,
            maximum: range.upperBound,
            step: 1,
            defaultValue: standard,
            value: standard
        )
    }
}

extension SyntheticControls.Entry {
    init(_ control: DeviceControl, _ value: ControlValue) {
        self.init(control: control, value: value)
    }
}
