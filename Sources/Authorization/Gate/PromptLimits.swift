import CaptureCore
import Synchronization

/// How often a program may have a question put that comes to nothing.
public struct PromptLimits: Hashable, Sendable {
    /// How many questions may go without an answer, at least 1.
    public var burst: Int
    /// Within what time, in milliseconds, from the end of each; 0 for no limit.
    public var interval: Int64

    /// Limits of the given values.
    public init(burst: Int = 3, interval: Int64 = 60_000) {
        self.burst = burst
        self.interval = interval
    }
}

/// Whether a question has come before a person: noted by who asks, looked at when it comes to nothing. Thread-safe.
public final class PromptSight: Hashable, Sendable {
    private let noted = Atomic<Bool>(false)

    /// One that has not.
    public init() {}

    /// Whether it has.
    public var isNoted: Bool { noted.load(ordering: .acquiring) }

    /// Notes that it has, or may have; called before the question is handed out, so that none goes uncounted.
    public func note() { noted.store(true, ordering: .releasing) }

    /// Whether it is the same question's.
    public static func == (one: PromptSight, other: PromptSight) -> Bool { one === other }

    /// Hashes the question that it is of.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The questions that stand or have come to nothing, by program. Requests that share a question count once; a program's
/// files count together, since it can make itself new ones.
struct PromptBook {
    var limits = PromptLimits()
    /// When each ended, in milliseconds since the machine started; `nil` while it stands.
    private var ends: [ProgramKey: [UInt64: Int64?]] = [:]

    /// How long a program has to wait before a question is put for it, in milliseconds; `nil` when it need not.
    ///
    /// - Parameter now: Milliseconds since the machine started: a clock that is set changes nothing.
    func wait(_ program: ProgramKey, at now: Int64) -> Int64? {
        guard limits.interval > 0 else { return nil }
        let counting = (ends[program] ?? [:]).values.map { ($0 ?? now) + limits.interval }.filter { $0 > now }.sorted()
        return counting.count < limits.burst ? nil : counting[counting.count - limits.burst] - now
    }

    /// A question is put.
    mutating func put(_ program: ProgramKey, _ id: UInt64, at now: Int64) {
        for key in Array(ends.keys) {
            ends[key] = ends[key]?.filter { $0.value.map { $0 + limits.interval > now } ?? true }
            if ends[key]?.isEmpty == true { ends[key] = nil }
        }
        ends[program, default: [:]].updateValue(nil, forKey: id)
    }

    /// It came to nothing.
    mutating func cameToNothing(_ program: ProgramKey, _ id: UInt64, at now: Int64) {
        ends[program]?.updateValue(now, forKey: id)
    }

    /// It was answered, or never came before anybody: it does not count.
    mutating func forget(_ program: ProgramKey, _ id: UInt64) {
        ends[program]?.removeValue(forKey: id)
    }
}
