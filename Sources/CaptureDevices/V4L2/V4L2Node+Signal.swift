import CLinux
import CaptureSystem
import Glibc

/// What comes in at an input, as with HDMI. A webcam's input always has a signal.
extension V4L2Node {
    /// What is wrong with a signal of which nothing but noise comes.
    private static let lost = UInt32(
        V4L2_IN_ST_NO_POWER | V4L2_IN_ST_NO_SIGNAL | V4L2_IN_ST_NO_SYNC | V4L2_IN_ST_NO_H_LOCK
    )

    /// Asks for an event whenever the input's signal changes; a driver without such events is looked at now and then.
    func watchSignal() {
        var input = clinux_v4l2_input()
        guard unsafe clinux_v4l2_input(descriptor, &input) == 0 else { return }
        _ = clinux_v4l2_watch_input(descriptor, input.index)
    }

    /// The most events that a driver keeps for one who listens.
    private static let mostEvents = 64

    /// Takes the events that wait, and no more of them than there can be: a driver may go on for ever.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func takeEvents() -> Bool {
        var count = 0
        while count < V4L2Node.mostEvents, clinux_v4l2_take_event(descriptor) == 0 { count += 1 }
        return count > 0
    }

    /// Whether the input in use has no signal.
    var hasNoSignal: Bool {
        var input = clinux_v4l2_input()
        guard unsafe clinux_v4l2_input(descriptor, &input) == 0 else { return false }
        return input.status & V4L2Node.lost != 0
    }

    /// The input's name, as in `HDMI 0`.
    var inputName: String {
        var input = clinux_v4l2_input()
        return unsafe clinux_v4l2_input(descriptor, &input) == 0 ? text(of: input.name) : ""
    }

    /// Sets the driver to the signal that comes in, if it is set to another one. A failure shows later, when frames should come.
    func adoptSignal() {
        do throws(SystemError) { try checkSignal() } catch { _ = clinux_v4l2_adopt_signal(descriptor) }
    }

    /// Fails when what comes in is not what the driver is set to, and with it the format.
    ///
    /// - Throws: EPROTO, with both signals in words.
    func checkSignal() throws(SystemError) {
        var (present, expected) = (clinux_v4l2_signal(), clinux_v4l2_signal())
        guard unsafe clinux_v4l2_signal(descriptor, 0, &present) == 0,
            unsafe clinux_v4l2_signal(descriptor, 1, &expected) == 0
        else { return }
        // A source's clock is never quite what the standard says.
        let clocks = (Double(present.pixel_clock), Double(expected.pixel_clock))
        let isSame =
            present.width == expected.width && present.height == expected.height
            && present.is_interlaced == expected.is_interlaced && abs(clocks.0 - clocks.1) <= clocks.1 * 0.005
        if isSame { return }
        throw SystemError(
            "its signal is now \(present.text), and was \(expected.text); start again to record it",
            errno: EPROTO
        )
    }
}

extension clinux_v4l2_signal {
    /// As in `1920x1080 (148.5 MHz)`.
    fileprivate var text: String {
        let clock = Double(pixel_clock / 100_000 + (pixel_clock % 100_000 >= 50_000 ? 1 : 0)) / 10
        return "\(width)x\(height)\(is_interlaced != 0 ? " interlaced" : "") (\(clock) MHz)"
    }
}
