import CaptureKit
import Logging

/// Shows what the library logs as this command's messages: standard output is for results.
struct MessageLog: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(level: Logger.Level) { logLevel = level }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { MessageLog.show("\(event.message)") }

    /// Shows a line that other programs may have a word in.
    static func show(_ line: String) { Output.message(Printable.text(line, limit: 2000)) }
}
