import CLinux
import CaptureCore
import CaptureSystem
import Logging

/// Tells of changed controls, on a thread of its own that waits for V4L2_EVENT_CTRL. It never touches the stream.
///
/// V4L2 has no event for the crop, so the thread asks for that of a camera that has one.
final class V4L2ControlWatch: ControlWatch {
    /// Between two looks, in milliseconds: the kernel keeps the newest event of each control, so that a control that
    /// changes all the time is told of this often.
    private static let pause: Int32 = 20
    /// Between two questions for the crop, in milliseconds.
    private static let cropPause: Int32 = 250

    private let end: EventSignal

    /// Starts to watch.
    ///
    /// - Throws: `deviceLost`, `internalFault` without a thread, `invalidArgument` for a driver that tells of nothing.
    init(
        _ controls: V4L2Controls,
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        _ ended: @escaping @Sendable () -> Void
    ) throws(CaptureError) {
        end = try CaptureError.wrap(.internalFault, try EventSignal())
        // First, so that nothing is missed between the list and the events.
        try controls.subscribe()
        let known = try controls.list()
        do throws(SystemError) {
            try WorkerThread.detached(name: "watch-controls") { [end] in
                var run = ControlEvents(controls, known, changed)
                do throws(SystemError) {
                    if try run.follow(until: end.descriptor) { return }
                } catch {
                    log.notice("no more changes of the controls of \(controls.node.path): \(error)")
                }
                ended()
            }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    deinit { end.raise() }

    /// The thread's part. Thread-bound.
    private struct ControlEvents {
        private let controls: V4L2Controls
        private let changed: @Sendable (DeviceControl) -> Void
        private var known: [UInt32: DeviceControl] = [:]
        private var crop: DeviceControl?

        init(
            _ controls: V4L2Controls,
            _ known: [DeviceControl],
            _ changed: @escaping @Sendable (DeviceControl) -> Void
        ) {
            self.controls = controls
            self.changed = changed
            for control in known { if let id = control.id { self.known[id] = control } }
            crop = known.control(named: DeviceControl.cropName)
        }

        /// Until the descriptor can be read, or the camera is gone.
        ///
        /// - Returns: Whether it was the descriptor.
        mutating func follow(until end: Int32) throws(SystemError) -> Bool {
            while true {
                let timeout = crop == nil ? -1 : V4L2ControlWatch.cropPause
                let (device, ended) = try Poll.wait(controls.node.descriptor, for: .exceptional, end, timeout: timeout)
                guard ended.isEmpty else { return true }
                if crop != nil, !lookAtCrop() { return false }
                if device.isEmpty { continue }
                var event = clinux_v4l2_control_event()
                // As many as there are controls, and no more: a driver may go on for ever.
                for _ in 0...known.count {
                    guard unsafe clinux_v4l2_take_control_event(controls.node.descriptor, &event) == 0 else { break }
                    take(event)
                }
                // A camera that is gone has an event for ever.
                if !device.isDisjoint(with: .failed) { return false }
                guard try Poll.wait(end, timeout: V4L2ControlWatch.pause).isEmpty else { return true }
            }
        }

        /// Tells of the crop if it or its bounds changed; says nothing while the camera has none.
        ///
        /// - Returns: Whether the camera is still there.
        private mutating func lookAtCrop() -> Bool {
            do throws(CaptureError) {
                guard let now = try controls.crop(isLogged: false), now != crop else { return true }
                crop = now
                changed(now)
                return true
            } catch {
                return false
            }
        }

        private mutating func take(_ event: clinux_v4l2_control_event) {
            guard let former = known[event.id] else { return }
            var control = former
            if event.changes & UInt32(V4L2_EVENT_CTRL_CH_FLAGS) != 0 {
                control.flags = controls.flags(event.flags, of: event.id, label: control.label)
            }
            if event.changes & UInt32(V4L2_EVENT_CTRL_CH_VALUE) != 0, control.kind != .button {
                control.value = V4L2Controls.value(event.value, ofType: event.type)
            }
            // Ranges of 64 bits do not fit an event.
            if event.changes & UInt32(V4L2_EVENT_CTRL_CH_RANGE) != 0, control.kind == .integer, event.is_64_bit == 0 {
                control.minimum = event.minimum
                control.maximum = V4L2Controls.value(event.maximum, ofType: event.type)
                control.step = max(event.step, 1)
                control.defaultValue = V4L2Controls.value(event.standard, ofType: event.type)
            }
            guard control != former else { return }
            known[event.id] = control
            changed(control)
        }
    }
}
