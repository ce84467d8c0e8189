import CaptureCore
import Logging

/// This room's debug lines, which `CAPTURE_LOG` turns on, and its warnings.
let log = Logger(label: "captured.engine")

extension RecorderReport {
    /// The report on one line.
    var words: String { text.split(separator: "\n").joined(separator: " ") }
}
