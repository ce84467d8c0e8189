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

/// The controls of a synthetic device: the camera's optics, the microphone's mute, and the faults that they can be made
/// to have, which vivid calls error injection.
///
/// They belong to the device and outlive its streams, so that they can be set before it is opened. Thread-safe.
final class SyntheticControls: DeviceSettings {
    /// A control and where its value is kept.
    struct Entry: Sendable {
        let control: DeviceControl
        let value: ControlValue
        /// The control that disables this one, while it has that value.
        let master: (value: ControlValue, disabling: Int64)?

        init(_ control: DeviceControl, _ value: ControlValue, idleWhile master: (ControlValue, Int64)? = nil) {
            self.control = control
            self.value = value
            self.master = master.map { ($0.0, $0.1) }
        }

        var current: DeviceControl {
            var control = control
            control.value = control.kind == .button ? 0 : value.now
            if let master, master.value.now == master.disabling { control.flags.insert(.inactive) }
            return control
        }
    }

    /// Camera: every so-maniest frame is lost on its way, 0 for none.
    let dropEvery = ControlValue(0)
    /// Camera: every so-maniest buffer comes flagged as broken, 0 for none.
    let errorEvery = ControlValue(0)
    /// Camera: what its picture is like.
    let optics = SyntheticOptics()
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
    private let watches = Mutex<[Int: @Sendable (DeviceControl) -> Void]>([:])

    init(_ mediaType: MediaType) {
        let pull = Entry(Self.button("disconnect", "Disconnect"), disconnect)
        let faults = [
            Entry(Self.number("drop_every", "Lose Every Nth Frame", 0...100_000, 0), dropEvery),
            Entry(Self.number("error_every", "Break Every Nth Frame", 0...100_000, 0), errorEvery),
            pull,
        ]
        switch mediaType {
        case .video, .metadata: entries = optics.entries + faults
        case .depth: entries = faults
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
    func list() -> [DeviceControl] { entries.map(\.current) }

    /// Sets a control, or presses a button with any value: `DeviceSettings.set`.
    func set(_ name: String, to value: Int64) throws(CaptureError) {
        let controls = list()
        guard let control = controls.control(named: name),
            let entry = entries.first(where: { $0.control.name == control.name })
        else {
            let names = entries.map(\.control.name).joined(separator: ", ")
            throw CaptureError(.invalidArgument, "there is no control '\(name)'; there are \(names)")
        }
        try control.checkWritable()
        try control.check(value)
        // One at a time, so that changes are told in their order.
        watches.withLock { watches in
            let before = list()
            entry.value.now = control.kind == .button ? 1 : value
            for (before, now) in zip(before, list()) where before != now {
                for changed in watches.values { changed(now) }
            }
        }
    }

    /// It never ends by itself: a device that is gone is told of by the monitor.
    func watch(
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        ended: @escaping @Sendable () -> Void = {}
    ) -> any ControlWatch {
        let number = watches.withLock { watches in
            let number = (watches.keys.max() ?? 0) + 1
            watches[number] = changed
            return number
        }
        return SyntheticWatch { [weak self] in _ = self?.watches.withLock { $0.removeValue(forKey: number) } }
    }

    private final class SyntheticWatch: ControlWatch {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    static func button(_ name: String, _ label: String) -> DeviceControl {
        var control = number(name, label, 0...0, 0, by: 0)
        control.kind = .button
        return control
    }

    static func toggle(_ name: String, _ label: String, _ standard: Int64 = 0) -> DeviceControl {
        var control = number(name, label, 0...1, standard)
        control.kind = .boolean
        return control
    }

    static func number(
        _ name: String,
        _ label: String,
        _ range: ClosedRange<Int64>,
        _ standard: Int64,
        by step: Int64 = 1
    ) -> DeviceControl {
        DeviceControl(
            name: name,
            label: label,
            kind: .integer,
            minimum: range.lowerBound,
            maximum: range.upperBound,
            step: step,
            defaultValue: standard,
            value: standard
        )
    }
}
