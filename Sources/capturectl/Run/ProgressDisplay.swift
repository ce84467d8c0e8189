import CaptureKit
import Glibc

/// Keeps a line of progress on standard error, if that is a terminal.
struct ProgressDisplay {
    private var shown: String?

    /// `nil` if nobody would see it: without a terminal, or on one that cannot erase a line.
    init?() {
        guard let terminal = Environment.value("TERM"), terminal != "dumb", !terminal.isEmpty,
            isatty(STDERR_FILENO) == 1
        else { return nil }
    }

    /// Shows the counters in place of those before.
    mutating func show(_ statistics: SessionStatistics, output: String) {
        let line = ProgressLine(width: width).text(statistics, output: output)
        if line == shown { return }
        shown = line
        Output.write("\r\u{1B}[K" + line, to: STDERR_FILENO)
    }

    /// Erases the line.
    func clear() {
        Output.write("\r\u{1B}[K", to: STDERR_FILENO)
    }

    private var width: Int { TerminalSize.width(of: STDERR_FILENO) ?? 80 }
}
