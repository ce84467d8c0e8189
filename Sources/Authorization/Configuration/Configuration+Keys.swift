import CaptureCore

extension Configuration {
    /// Sets one key: `nil` when the value was understood, else what would be right.
    private typealias Setter = (inout Configuration, String) -> String?

    private static var keys: [String: [String: Setter]] {
        [
            "Consent": [
                "PromptTimeoutSec": setter(\.consent.promptTimeout, "a time from 1s to 1h, as in 90 or 2min") {
                    duration($0, from: .seconds(1), to: .seconds(3600))
                },
                "PromptLimitBurst": setter(\.consent.promptLimitBurst, "a number from 1 to 100") {
                    number($0, 1...100)
                },
                "PromptLimitIntervalSec": setter(
                    \.consent.promptLimitInterval,
                    "a time from 0 (no limit) to 1h, as in 60 or 5min"
                ) {
                    duration($0, from: .zero, to: .seconds(3600))
                },
                "ConnectionGraceSec": setter(\.consent.connectionGrace, "a time from 0 to 1h, as in 10 or 1min") {
                    duration($0, from: .zero, to: .seconds(3600))
                },
                "UnusedGrantsExpireSec": setter(
                    \.consent.unusedGrantsExpire,
                    "off, or a time from 1h to 10y, as in 90d"
                ) { text -> Duration?? in
                    if text == "off" { return .some(nil) }
                    return duration(text, from: .seconds(3600), to: .seconds(10 * 31_557_600)).map { .some($0) }
                },
                "PasswordForClaimed": setter(\.consent.passwordForClaimed, "yes or no", boolean),
                "PasswordForServices": setter(\.consent.passwordForServices, "yes or no", boolean),
                "StopWhenLocked": setter(\.consent.stopWhenLocked, "yes or no", boolean),
            ],
            "Devices": [
                "SilenceTimeoutSec": setter(\.devices.silenceTimeout, "a time from 1s to 1h, as in 5 or 2min") {
                    duration($0, from: .seconds(1), to: .seconds(3600))
                },
                "VendorControls": setter(
                    \.devices.vendorControls,
                    "numbers as 'capturectl control' shows them, as in 0x0a046d71, with spaces between them",
                    controls
                ),
            ],
            "History": [
                "KeepFor": setter(\.history.keepFor, "a time from 1d to 10y, as in 90d or 1y") {
                    duration($0, from: .seconds(86_400), to: .seconds(10 * 31_557_600))
                },
                "MaxEntries": setter(\.history.maxEntries, "a number from 1000 to 1000000") {
                    number($0, 1000...1_000_000)
                },
            ],
            "Indicator": [
                "LingerSec": setter(\.indicator.linger, "a time from 0 to 1min, as in 3 or 500ms") {
                    duration($0, from: .zero, to: .seconds(60))
                }
            ],
            "Library": [
                "ProgramQuota": setter(\.library.programQuota, sizes, quota),
                "UserQuota": setter(\.library.userQuota, sizes, quota),
                "KeepFree": setter(\.library.keepFree, sizes) { text -> Int64?? in
                    quota(text).map { .some($0 ?? 0) }
                },
                "KeepDeletedFor": setter(\.library.keepDeletedFor, "a time from 1d to 10y, as in 30d or 1y") {
                    duration($0, from: .seconds(86_400), to: .seconds(10 * 31_557_600))
                },
            ],
            "Synthetic": [
                "Enabled": setter(\.synthetic.enabled, "yes or no", boolean),
                "Speed": setter(\.synthetic.speed, "a number from 1 to 1000") { number($0, 1...1000) },
                "ClockDriftPPM": setter(\.synthetic.clockDriftPPM, "a number from -1000 to 1000") {
                    number($0, -1000...1000)
                },
            ],
            "Recorder": [
                "Socket": setter(\.recorder.socket, "an absolute path of at most 107 bytes") {
                    $0.hasPrefix("/") && $0.utf8.count < 108 ? $0 : nil
                },
                "Command": setter(\.recorder.command, "an absolute path") { $0.hasPrefix("/") ? $0 : nil },
                "PreRollMemory": setter(\.recorder.preRollMemory, "a size from 1M to 1G, as in 64M") {
                    size($0, most: 1 << 30)
                },
            ],
        ]
    }

    /// A key that takes what `read` understands, and whose empty value brings back the default.
    private static func setter<Value>(
        _ place: WritableKeyPath<Configuration, Value>,
        _ right: String,
        _ read: @escaping (String) -> Value?
    ) -> Setter {
        { configuration, text in
            if text.isEmpty {
                configuration[keyPath: place] = Configuration()[keyPath: place]
                return nil
            }
            guard let value = read(text) else { return right }
            configuration[keyPath: place] = value
            return nil
        }
    }

    /// Takes over what a file sets. Sections and keys that begin with `X-` are somebody else's.
    mutating func apply(_ file: KeyFile) {
        problems += file.problems
        let keys = Configuration.keys
        for entry in file.entries where !entry.section.hasPrefix("X-") && !entry.key.hasPrefix("X-") {
            let name = KeyFile.shown(entry.key)
            guard let section = keys[entry.section] else {
                report(
                    file,
                    entry,
                    "unknown section [\(KeyFile.shown(entry.section))]",
                    Array(keys.keys).map { "[\($0)]" }
                )
                continue
            }
            guard let set = section[entry.key], entry.locale.isEmpty else {
                report(file, entry, "unknown key '\(name)' in [\(entry.section)]", Array(section.keys))
                continue
            }
            if let right = set(&self, entry.value) {
                let message =
                    "'\(KeyFile.shown(entry.value))' is no value for \(name)=, expected \(right); it stays as it was"
                problems.append(KeyFileProblem(file: file.path, line: entry.line, message: message))
            }
        }
    }

    private mutating func report(_ file: KeyFile, _ entry: KeyFile.Entry, _ what: String, _ known: [String]) {
        let message = "\(what), expected one of \(known.sorted().joined(separator: ", "))"
        problems.append(KeyFileProblem(file: file.path, line: entry.line, message: message))
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// Numbers of V4L2's controls in hexadecimal digits.
    private static func controls(_ text: String) -> Set<UInt32>? {
        var ids: Set<UInt32> = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard word.hasPrefix("0x"), let id = UInt32(word.dropFirst(2), radix: 16) else { return nil }
            ids.insert(id)
        }
        return ids
    }

    private static let sizes = "off, or a size from 1M to 1E, as in 50G"

    private static func quota(_ text: String) -> Int64?? {
        if text == "off" { return .some(nil) }
        return size(text, most: 1 << 60).map { .some($0) }
    }

    /// As systemd reads sizes: a whole number of bytes, or of the power of 1024 that a letter names. At least 1 MiB.
    private static func size(_ text: String, most: Int64) -> Int64? {
        let letters = "KMGTPE"
        var digits = Substring(text)
        var shift = 0
        if let last = digits.last, let index = letters.firstIndex(of: last) {
            shift = 10 * (letters.distance(from: letters.startIndex, to: index) + 1)
            digits = digits.dropLast()
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits),
            number <= most >> shift, number << shift >= 1 << 20
        else { return nil }
        return number << shift
    }

    /// As systemd reads booleans.
    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "yes", "y", "true", "t", "on": true
        case "0", "no", "n", "false", "f", "off": false
        default: nil
        }
    }

    private static func duration(_ text: String, from least: Duration, to most: Duration) -> Duration? {
        TimeSpan.parse(text).map { .milliseconds($0) }.flatMap { (least...most).contains($0) ? $0 : nil }
    }
}

extension SmallFile {
    /// A configuration file of at most 1 MiB; `/dev/null` reads as an empty one.
    static func readConfiguration(_ path: String) -> Outcome {
        isNull(path) ? .text("") : read(path, limit: 1 << 20)
    }
}
