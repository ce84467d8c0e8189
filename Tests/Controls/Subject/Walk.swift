import CaptureKit
import CaptureSystem
import Glibc
import Synchronization

/// The changes of a camera's settings that were told. Thread-safe.
final class Changes: Sendable {
    private let told = Mutex([(name: String, value: Int64)]())

    var count: Int { told.withLock { $0.count } }

    func note(_ control: DeviceControl) { told.withLock { $0.append((control.name, control.value)) } }

    /// Whether a value is told, behind so many others, before long.
    func hasTold(_ name: String, _ value: Int64, since count: Int) async -> Bool {
        await Walk.comes { told.withLock { $0.dropFirst(count).contains { $0 == (name, value) } } }
    }
}

enum Walk {
    /// How long anything may take, on an emulated machine.
    private static let patience = Duration.seconds(60)

    /// Goes through the controls of a camera: what another program changes is told, what this one changes with the lock
    /// is told and put back at its end.
    static func go(_ id: String, others: String) async throws -> [Row] {
        let daemon = try await CaptureDaemon.shared()
        let camera = try await CaptureDevice.device(withID: id, on: daemon)
        let changes = Changes()
        let stream = try await camera.controlChanges()
        let listening = Task { for try await change in stream { changes.note(change) } }

        var (controls, rows): ([any Walkable], [Row]) = ([], [])
        for control in typedControls where try await isThere(control, camera, &rows) { controls.append(control) }
        let missing = rows
        rows = controls.map { Row(name: $0.name) }
        for (index, control) in controls.enumerated().reversed() {
            rows[index].event = try await hear(control, camera, others, changes)
        }

        let before = try await values(of: controls, camera)
        try await camera.lockForConfiguration()
        for (index, control) in controls.enumerated() {
            do {
                try await control.walk(camera, changes, &rows[index])
            } catch let error as CaptureError {
                rows[index].set += " FAILED: \(error.message)"
            }
        }
        await daemon.close()
        listening.cancel()

        let again = try await CaptureDevice.device(withID: id, on: try await CaptureDaemon.shared())
        _ = try await comes { try await values(of: controls, again) == before }
        for (index, now) in try await values(of: controls, again).enumerated() {
            let isRestored = now == before[index]
            func text(_ value: Int64) -> String {
                controls[index].control == DeviceControl.cropName ? "\(PixelRectangle(number: value))" : "\(value)"
            }
            rows[index].restored = text(now) + (isRestored ? "" : " FAILED: it was \(text(before[index]))")
        }
        return rows + missing
    }

    /// Whether a camera has a control. One of V4L2's that it has, and that no typed one shows, is a fault.
    private static func isThere(
        _ control: any Walkable,
        _ camera: CaptureDevice,
        _ rows: inout [Row]
    ) async throws -> Bool {
        if try await control.isOffered(by: camera) { return true }
        if try await camera.controls().control(named: control.control) != nil {
            rows.append(Row(name: control.name, read: "FAILED: the camera has '\(control.control)'"))
        }
        return false
    }

    /// Has another program change a control, and waits until that is told.
    private static func hear(
        _ control: any Walkable,
        _ camera: CaptureDevice,
        _ others: String,
        _ changes: Changes
    ) async throws -> String {
        guard let now = try await camera.controls().control(named: control.control) else { return "FAILED: not there" }
        var wanted = [control.byHand ?? another(now)]
        if wanted == [now.value] { wanted.insert(another(now), at: 0) }
        for value in wanted {
            let mark = changes.count
            // The driver's label in lower case is the name for v4l2-ctl, and for capturectl.
            guard try run(others, "\(DeviceControl.name(of: now.label))=\(text(value, of: now))") else {
                return "FAILED: \(others) \(value)"
            }
            guard await changes.hasTold(now.name, value, since: mark) else {
                return "FAILED: no event of another's \(value)"
            }
        }
        return "another's"
    }

    /// A value as `capturectl control` takes it.
    private static func text(_ value: Int64, of control: DeviceControl) -> String {
        control.kind == .rectangle ? "\(PixelRectangle(number: value))" : "\(value)"
    }

    /// A value that a control does not have now.
    private static func another(_ control: DeviceControl) -> Int64 {
        if let bounds = control.bounds { return bounds.part(64).number ?? control.value }
        if !control.choices.isEmpty {
            return control.choices.keys.sorted().first { $0 != control.value } ?? control.value
        }
        let step = max(control.step, 1)
        let middle = control.minimum + (control.maximum - control.minimum) / 2 / step * step
        return middle == control.value ? control.maximum : middle
    }

    private static func run(_ command: String, _ word: String) throws -> Bool {
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        let child = try ChildProcess.spawn("/bin/sh", ["-c", "\(command) \"$1\"", "sh", word], standardInput: nothing)
        return ChildProcess.reap(child) == 0
    }

    private static func values(of controls: [any Walkable], _ camera: CaptureDevice) async throws -> [Int64] {
        let now = try await camera.controls()
        return controls.compactMap { now.control(named: $0.control)?.value }
    }

    /// Whether something comes to hold before long.
    static func comes(_ holds: () async throws -> Bool) async rethrows -> Bool {
        let limit = ContinuousClock.now + patience
        while try await !holds() {
            if ContinuousClock.now > limit { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}
