import CaptureCore
import Logging

/// This room's debug lines, which `CAPTURE_LOG` turns on, and its warnings.
let log = Logger(label: "captured.engine")

extension RecorderReport {
    /// Comes several times a second.
    var isProgress: Bool {
        switch self {
        case .progress, .levels: true
        case .ready, .finished, .failed: false
        }
    }

    /// The report on one line.
    var words: String { text.split(separator: "\n").joined(separator: " ") }
}
