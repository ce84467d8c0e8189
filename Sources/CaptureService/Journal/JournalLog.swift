import Authorization
import Logging

/// Sends what the rooms below this one log to the journal.
struct JournalLog: LogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let priority = JournalLog.priority(of: event.level)
        // Callers may have a word in it, by their errors and paths.
        let line = DisplayText.neutralized("\(event.message)", limit: 2000)
        Journal.send(line, priority: priority, fields: ["CAPTURE_ROOM": label])
    }

    static func priority(of level: Logger.Level) -> Journal.Priority {
        switch level {
        case .trace, .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}
