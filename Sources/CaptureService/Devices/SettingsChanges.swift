import CaptureCore
import CaptureDevices
import CaptureSystem
import Glibc

/// What callers changed of a device's settings for as long as they are there.
struct SettingsChanges {
    private struct Change {
        /// The value before the first of them.
        var value: Int64
        /// The connections that changed it and have not left.
        var callers: Set<String>
    }

    private var changes: [String: Change] = [:]

    var isEmpty: Bool { changes.isEmpty }

    /// Notes what a caller changed, directly or, as the focus by automatic focus, on the way.
    mutating func note(from before: [DeviceControl], to after: [DeviceControl], by caller: String) {
        for control in SettingsChanges.difference(before, after) {
            changes[control.name, default: Change(value: control.value, callers: [])].callers.insert(caller)
        }
    }

    /// What was changed for good meanwhile is not put back.
    mutating func forget(from before: [DeviceControl], to after: [DeviceControl]) {
        for control in SettingsChanges.difference(before, after) { changes[control.name] = nil }
    }

    /// What a caller changed stays, also where another caller changed it later.
    mutating func keep(_ caller: String) { changes = changes.filter { !$0.value.callers.contains(caller) } }

    /// What was changed returns to these values, which are the device's own by now.
    mutating func returnTo(_ values: [String: Int64]) {
        for (name, value) in values { changes[name]?.value = value }
    }

    /// What is to be put back when a caller leaves, by name: what no other caller changed, too.
    mutating func take(_ caller: String) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for (name, change) in changes where change.callers.contains(caller) {
            changes[name]?.callers.remove(caller)
            if change.callers.count > 1 { continue }
            values[name] = change.value
            changes[name] = nil
        }
        return values
    }

    /// The settings that could be written before and are not as they were, as they were.
    private static func difference(_ before: [DeviceControl], _ after: [DeviceControl]) -> [DeviceControl] {
        var now: [String: DeviceControl] = [:]
        for control in after { now[control.name] = control }
        return before.filter { control in
            guard control.isWritable, control.kind != .button, let now = now[control.name] else { return false }
            return now.value != control.value || now.flags.contains(.inactive)
        }
    }
}

extension DeviceSettings {
    /// Puts values back on a thread of its own, once a device's callers have left. The log tells what cannot be put back.
    func putBack(_ values: [String: Int64], of device: DeviceID) async {
        do throws(CaptureError) {
            try await WorkerThread.run("restore-controls") { () throws(CaptureError) in try putBack(values) }
        } catch {
            // An unplugged device restarts with its own values.
            if error.code == .deviceLost { return }
            Journal.send("cannot put back the settings of \(device): \(error.message)", priority: .warning)
        }
    }

    /// Writes former values, as `restore`. Waits for a stream that holds the crop for up to a second, because a consent that
    /// is withdrawn ends the stream at the same time. Blocks.
    ///
    /// - Throws: As `restore`; `busy` if the stream goes on.
    func putBack(_ values: [String: Int64]) throws(CaptureError) {
        var looks = 50
        while true {
            do throws(CaptureError) {
                return try restore { values[$0.name] }
            } catch {
                looks -= 1
                guard error.code == .busy, looks > 0 else { throw error }
            }
            usleep(20_000)
        }
    }

    /// Writes values; what cannot be written is left as it is.
    ///
    /// Numbers come first and last, because a mode such as automatic focus disables the number that it stands for.
    ///
    /// - Parameter value: The value that a setting is to have; `nil` for those that are left alone.
    /// - Throws: Why the first of those that could not be written was not. That a stream or another setting holds it counts
    ///   only for the crop. The others are written nevertheless, unless the device is gone.
    func restore(_ value: (DeviceControl) -> Int64?) throws(CaptureError) {
        var fault: CaptureError?
        for isNumber in [true, false, true] {
            for control in try list() where (control.kind == .integer) == isNumber && control.kind != .button {
                guard control.isWritable, let value = value(control), value != control.value else { continue }
                do throws(CaptureError) {
                    try set(control.name, to: value)
                } catch {
                    if error.code == .deviceLost { throw error }
                    // One setting may disable another as they are written; only a stream holds the crop.
                    let isHeld = error.code == .busy || error.code == .wrongState
                    if isHeld, control.kind != .rectangle { continue }
                    fault = fault ?? error
                }
            }
        }
        if let fault { throw fault }
    }
}
