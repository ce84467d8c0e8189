import CLinux
public import CaptureSystem
import Glibc
import CaptureKit

/// The terminal that the process was started on, whatever its standard streams are: `/dev/tty`.
///
/// Thread-bound: one thread uses it at a time; `wake` of a wait may be raised from anywhere.
public final class ControllingTerminal {
    private let file: Descriptor
    private var saved: termios?

    /// Opens the terminal.
    ///
    /// - Returns: `nil` if the process has none, or is not in its foreground and so could not read keys.
    public init?() {
        guard let file = try? Descriptor.open("/dev/tty", O_RDWR) else { return nil }
        guard tcgetpgrp(file.descriptor) == getpgrp() else { return nil }
        self.file = file
    }

    /// Takes a terminal that is already open, for tests.
    init(_ file: Descriptor) {
        self.file = file
    }

    /// How many columns it has; 80 if unknown.
    static var width: Int {
        var size = winsize()
        guard let file = try? Descriptor.open("/dev/tty", O_RDWR),
            unsafe ioctl(file.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return 80 }
        return Int(size.ws_col)
    }

    deinit {
        restore()
    }

    /// From now on, takes keys one at a time without echo.
    ///
    /// - Parameter hasSignals: Whether Ctrl-C and Ctrl-Z keep working; otherwise they are keys as others are.
    public func takeKeys(hasSignals: Bool = true) throws(SystemError) {
        var settings = termios()
        try SystemError.check("read the terminal's settings") { unsafe tcgetattr(file.descriptor, &settings) }
        saved = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | (hasSignals ? 0 : ISIG))
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        if var saved { unsafe clinux_restore_on_end(file.descriptor, &saved) }
        try SystemError.check("change the terminal's settings") {
            unsafe tcsetattr(file.descriptor, TCSADRAIN, &settings)
        }
    }

    /// Leaves the terminal as it was before `takeKeys`.
    public func restore() {
        guard var settings = saved else { return }
        // At once: what was written may stand still, as after Ctrl-S.
        unsafe tcsetattr(file.descriptor, TCSANOW, &settings)
        clinux_restore_no_more()
        saved = nil
    }

    /// Shows text; returns when the terminal has it.
    public func write(_ text: String) throws(SystemError) {
        try file.write(all: Array(text.utf8))
        tcdrain(file.descriptor)
    }

    /// Discards what was typed and not read yet.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    public func forgetTyped() throws(SystemError) -> Bool {
        let typed = try Poll.wait(file.descriptor, timeout: 0)
        tcflush(file.descriptor, TCIFLUSH)
        return typed.contains(.readable) && !typed.contains(.failed)
    }

    /// Discards input as long as it comes faster than a person types, for a second at most.
    func forgetPasted() throws(SystemError) {
        for _ in 0..<20 {
            guard try Poll.wait(file.descriptor, timeout: 50).contains(.readable), try forgetTyped() else { return }
        }
    }

    /// Waits for keys.
    ///
    /// - Parameter wake: Ends the wait when it is raised.
    /// - Returns: What was typed, empty at the end of the input; `nil` when the wait was ended.
    public func read(until wake: EventSignal) throws(SystemError) -> [UInt8]? {
        let (typed, raised) = try Poll.wait(file.descriptor, wake.descriptor)
        if !raised.isEmpty { return nil }
        guard typed.contains(.readable) else { return [] }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe file.read(into: buffer)
        return unsafe Array(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// Asks the terminal itself something, such as what it can show.
    ///
    /// - Parameters:
    ///   - question: What to write to it.
    ///   - time: How long the answer may take.
    ///   - isWhole: Whether an answer is complete.
    /// - Returns: The answer; empty if none came or the terminal went away.
    public func answer(to question: String, within time: Duration, _ isWhole: ([UInt8]) -> Bool) -> [UInt8] {
        var answer: [UInt8] = []
        do throws(SystemError) {
            let wake = try EventSignal()
            try takeKeys()
            defer { restore() }
            try write(question)
            let end = ContinuousClock.now + time
            while !isWhole(answer) {
                let left = Int32(max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1))
                guard try Poll.wait(file.descriptor, timeout: left).contains(.readable),
                    let more = try read(until: wake), !more.isEmpty
                else { break }
                answer += more
            }
        } catch {
            return answer
        }
        return answer
    }
}
