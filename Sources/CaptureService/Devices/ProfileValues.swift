import CaptureCore
import CaptureDevices

extension DeviceControl {
    /// Makes sure that the value can be part of a profile.
    ///
    /// Lamps are left out, so that none lights because a program opens its camera.
    ///
    /// - Throws: `invalidArgument` for an action, a lamp, and what the device changes by itself; as `checkWritable`.
    func checkSavable() throws(CaptureError) {
        if kind == .button { throw CaptureError(.invalidArgument, "'\(name)' is an action, which has no value") }
        if name.hasPrefix("flash_") {
            throw CaptureError(.invalidArgument, "'\(name)' belongs to a lamp, which no profile turns on")
        }
        try checkWritable()
        if flags.contains(.volatile) {
            throw CaptureError(.invalidArgument, "the device changes '\(name)' by itself")
        }
    }

    fileprivate var isSavable: Bool { (try? checkSavable()) != nil }
}

extension DeviceSettings {
    /// The values that a profile of the device is to hold. Blocks.
    ///
    /// - Parameter names: Of controls, as `set` takes them; empty for all that can be saved. A crop that shows the whole
    ///   picture is left out, because it depends on the signal at an input.
    /// - Returns: The values by the controls' names.
    /// - Throws: `invalidArgument` for an unknown name, and if there is nothing to save; as `DeviceControl.checkSavable`.
    func savable(_ names: [String]) throws(CaptureError) -> [String: Int64] {
        let controls = try list()
        var chosen = controls.filter {
            $0.isSavable && ($0.kind != .rectangle || $0.value != $0.defaultValue)
        }
        if !names.isEmpty {
            chosen = try names.map { name throws(CaptureError) in
                guard let control = controls.control(named: name) else {
                    let known = controls.map(\.name).joined(separator: ", ")
                    throw CaptureError(.invalidArgument, "the device has no setting '\(name)'; it has: \(known)")
                }
                try control.checkSavable()
                return control
            }
        }
        guard !chosen.isEmpty else { throw CaptureError(.invalidArgument, "the device has no setting to save") }
        return Dictionary(chosen.map { ($0.name, $0.value) }) { $1 }
    }

    /// Writes the values of a profile, modes before what they disable. Blocks.
    ///
    /// - Parameter deadline: Nothing more is written then.
    /// - Returns: Why values were not written, by name.
    /// - Throws: `deviceLost`, or `inputOutput` if the device tells of no settings.
    func apply(
        _ profile: [String: Int64],
        until deadline: ContinuousClock.Instant
    ) throws(CaptureError) -> [String: String] {
        func isLate() -> Bool { ContinuousClock.now > deadline }
        do throws(CaptureError) {
            try restore { isLate() || !$0.isSavable ? nil : profile[$0.name] }
        } catch {
            // Of others the reasons are found below.
            if error.code == .deviceLost { throw error }
        }
        var faults: [String: String] = [:]
        let controls = try list()
        for (name, value) in profile.sorted(by: { $0.key < $1.key }) {
            do throws(CaptureError) {
                guard let control = controls.first(where: { $0.name == name }) else {
                    throw CaptureError(.invalidArgument, "the device has no such setting any more")
                }
                if control.value == value { continue }
                try control.checkSavable()
                if isLate() { throw CaptureError(.timedOut, "the device takes too long") }
                try set(name, to: value)
            } catch {
                if error.code == .deviceLost { throw error }
                faults[name] = error.message
            }
        }
        return faults
    }
}
