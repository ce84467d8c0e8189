import Glibc
public import Logging

/// How much each room logs, as the variable `CAPTURE_LOG` says.
///
/// `debug` holds for every room, `bus=debug,engine=trace` for the named ones. The lines for administrators do not depend
/// on it.
public struct LogLevels: Sendable {
    /// The rooms that log. Their loggers have the label `captured.ROOM`.
    public static let rooms = ["authorization", "bus", "devices", "engine", "rings", "system"]

    private var levels: [String: Logger.Level] = [:]
    /// What is wrong with the variable, in a sentence each. What is wrong has no effect.
    public private(set) var problems: [String] = []

    /// What this process's environment says.
    public static var ofEnvironment: LogLevels {
        LogLevels(unsafe getenv("CAPTURE_LOG").map { unsafe String(cString: $0) })
    }

    /// - Parameter text: The variable's value; `nil` if it is not set.
    public init(_ text: String?) {
        for word in (text ?? "").split(separator: ",") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            let (rooms, name) = parts.count == 2 ? ([parts[0]], parts[1]) : (LogLevels.rooms, String(word))
            guard let level = LogLevels.levels[name] else {
                problems.append("CAPTURE_LOG: '\(name)' is no level; there are: debug, trace, info")
                continue
            }
            for room in rooms {
                if LogLevels.rooms.contains(room) {
                    levels[room] = level
                } else {
                    let known = LogLevels.rooms.joined(separator: ", ")
                    problems.append("CAPTURE_LOG: '\(room)' is no room that logs; there are: \(known)")
                }
            }
        }
    }

    private static let levels: [String: Logger.Level] = ["info": .info, "debug": .debug, "trace": .trace]

    /// The level of a logger.
    ///
    /// - Parameters:
    ///   - label: `captured.ROOM`.
    ///   - usual: The level of a room that the variable does not name.
    public func level(of label: String, usual: Logger.Level = .info) -> Logger.Level {
        levels[String(label.drop { $0 != "." }.dropFirst())] ?? usual
    }
}
