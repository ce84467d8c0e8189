import CaptureKit
import Glibc

/// Keeps a line of progress on standard error, where that is a terminal.
struct ProgressDisplay {
    /// `nil` where nobody would see it.
    init?() {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
    }

    /// Shows the counters in place of those before.
    func show(_ statistics: SessionStatistics, output: String) {
        let line = ProgressLine(width: width).text(statistics, output: output)
        Output.write("\r\u{1B}[K" + line, to: STDERR_FILENO)
    }

    /// Takes the line away.
    func clear() {
        Output.write("\r\u{1B}[K", to: STDERR_FILENO)
    }

    private var width: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
