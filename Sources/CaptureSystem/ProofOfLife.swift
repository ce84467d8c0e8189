public import CaptureCore
import Synchronization

/// When each part of the control side last proved that it works. Device threads look here before they publish: what
/// nobody controls must not capture.
///
/// It asks for nothing until `begin`: a source that was given its own streams as if there were no control side.
///
/// Thread-safe. Proving and looking take no lock, allocate nothing and make no system call where the vDSO serves.
public final class ProofOfLife: Sendable {
    /// A part of the control side.
    public enum Part: String, Sendable, CaseIterable {
        /// The connection to the message bus, and the bus itself.
        case bus
        /// Who decides what is allowed.
        case gate
        /// Who starts and stops sessions.
        case engine
    }

    /// For how long a part may prove nothing, in nanoseconds. Two seconds after it stopped working no byte changes any
    /// more; the rest of them is the driver's, which may take its time to stop a stream.
    public static let patience: Int64 = 1_750_000_000

    private static let notAsked = Int64.max
    private let bus = Atomic<Int64>(notAsked)
    private let gate = Atomic<Int64>(notAsked)
    private let engine = Atomic<Int64>(notAsked)

    /// Asks for nothing yet.
    public init() {}

    /// Asks for proofs from now on; all parts count as proven just now.
    public func begin(at now: Timestamp = .now) {
        for part in Part.allCases { store(now.nanoseconds, part) }
    }

    /// Asks for nothing any more.
    public func end() {
        for part in Part.allCases { store(Self.notAsked, part) }
    }

    /// A part has done a round of work.
    ///
    /// - Parameter begun: When the round began: it may have stopped working right after it was done with its share.
    public func prove(_ part: Part, since begun: Timestamp) {
        // A round that ends late proves no more than those after it have; and nothing when nothing is asked.
        switch part {
        case .bus: bus.max(begun.nanoseconds, ordering: .releasing)
        case .gate: gate.max(begun.nanoseconds, ordering: .releasing)
        case .engine: engine.max(begun.nanoseconds, ordering: .releasing)
        }
    }

    /// The nanoseconds until the oldest proof is too old, 0 or less when it is.
    public func remaining(at now: Timestamp = .now) -> Int64 {
        let oldest = min(
            bus.load(ordering: .acquiring),
            gate.load(ordering: .acquiring),
            engine.load(ordering: .acquiring)
        )
        return Timestamp(nanoseconds: oldest).advanced(by: Self.patience) - now
    }

    /// Whether a part proves itself.
    public func isProven(_ part: Part, at now: Timestamp = .now) -> Bool {
        let last =
            switch part {
            case .bus: bus.load(ordering: .acquiring)
            case .gate: gate.load(ordering: .acquiring)
            case .engine: engine.load(ordering: .acquiring)
            }
        return Timestamp(nanoseconds: last).advanced(by: Self.patience) > now
    }

    private func store(_ value: Int64, _ part: Part) {
        switch part {
        case .bus: bus.store(value, ordering: .releasing)
        case .gate: gate.store(value, ordering: .releasing)
        case .engine: engine.store(value, ordering: .releasing)
        }
    }
}
