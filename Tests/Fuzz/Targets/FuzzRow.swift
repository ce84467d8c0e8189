import CaptureCore
import GRDB

@testable import Authorization

/// Rows of a store that something else has written into: each is refused, or can be reckoned with.
enum FuzzRow {
    private static let words: [String: [String]] = [
        "service": ["camera", "library-add", "library-read-write"],
        "tier": ["claimed", "service", "sandboxed", "user"],
        "reason": ["answer", "inline-answer", "settings", "policy"],
        "boot": ["first", "second", ""], "usedBoot": ["first", ""],
        "program": ["exe:/usr/bin/cheese", "app:cheese", "unit:a.service", "uid:5"],
        "path": ["/usr/bin/cheese"],
    ]
    private static let columns = [
        "user", "program", "service", "executable", "tier", "status", "reason", "wall", "sinceBoot", "boot", "path",
        "device", "inode", "protected", "detail", "until", "usedWall", "usedSinceBoot", "usedBoot",
        "changed",
    ]

    @Sendable static func row(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var values: [String: (any DatabaseValueConvertible)?] = [:]
        for column in columns {
            switch input.byte() % 6 {
            case 0: values[column] = .some(nil)
            case 1: values[column] = input.number(Int64.self)
            case 2: values[column] = input.text()
            case 3: values[column] = Int64(input.byte() % 5)
            default: values[column] = words[column].map { input.one(of: $0) } ?? "3"
            }
        }
        guard let answer = try? StoredAnswer(Row(values)) else { return }
        _ = (answer.executableKey, answer.executable)
        FuzzTarget.hold(answer.status != .limited || answer.service == .libraryReadWrite, "reading alone is limited")
        for boot in ["first", "other"] {
            let now = AnswerTime(wall: 1_700_000_000_000, sinceBoot: 5_000_000, boot: boot)
            if let moment = answer.lifetime.moment {
                _ = Standing(from: answer.time, until: moment, at: now, time: now.wall)
            }
            let used = answer.lastUsed ?? answer.time
            _ = used.elapsed(at: now)
            _ = Standing(from: used, until: used.end(after: 7_776_000_000), at: now, time: nil)
        }
    }
}
