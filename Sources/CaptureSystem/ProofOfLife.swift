public import CaptureCore
import Synchronization

/// Records when each part of the control side last proved that it works. Device threads look here before they publish:
/// without control there must be no capture.
///
/// No proof is needed before `begin`. So a source that makes its own streams works without a control side.
///
/// Thread-safe. Proving and looking take no lock, allocate nothing, and make no system call if the vDSO provides the
/// clock.
public final class ProofOfLife: Sendable {
    /// A part of the control side.
    public enum Part: String, Sendable, CaseIterable {
        /// The connection to the message bus, and the bus itself.
        case bus
        /// The gate, which decides what is allowed.
        case gate
        /// The engine, which starts and stops sessions.
        case engine
    }

    /// How long a part may go without a proof, in nanoseconds. No byte may change two seconds after a part stopped
    /// working. The remaining 250 ms are for the driver, which may be slow to stop a stream.
    public static let patience: Int64 = 1_750_000_000

    private static let notAsked = Int64.max
    private let bus = Atomic<Int64>(notAsked)
    private let gate = Atomic<Int64>(notAsked)
    private let engine = Atomic<Int64>(notAsked)

    /// Creates a record that needs no proof yet.
    public init() {}

    /// Needs proofs from now on. Every part counts as proven at `now`.
    public func begin(at now: Timestamp = .now) {
        for part in Part.allCases { store(now.nanoseconds, part) }
    }

    /// Needs no proof any more.
    public func end() {
        for part in Part.allCases { store(Self.notAsked, part) }
    }

    /// Records that a part has done a round of work.
    ///
    /// - Parameter begun: When the round began. The part may have stopped working right after its share of the round.
    public func prove(_ part: Part, since begun: Timestamp) {
        // Later rounds prove more than one that ends late. When no proof is needed, this changes nothing.
        with(part) { _ = $0.max(begun.nanoseconds, ordering: .releasing) }
    }

    /// Nanoseconds until the oldest proof expires; 0 or less if it has expired.
    public func remaining(at now: Timestamp = .now) -> Int64 {
        Timestamp(nanoseconds: min(last(.bus), last(.gate), last(.engine))).advanced(by: Self.patience) - now
    }

    /// Whether a part's last proof still holds.
    public func isProven(_ part: Part, at now: Timestamp = .now) -> Bool {
        Timestamp(nanoseconds: last(part)).advanced(by: Self.patience) > now
    }

    private func store(_ value: Int64, _ part: Part) { with(part) { $0.store(value, ordering: .releasing) } }

    private func last(_ part: Part) -> Int64 { with(part) { $0.load(ordering: .acquiring) } }

    private func with<Result>(_ part: Part, _ body: (borrowing Atomic<Int64>) -> Result) -> Result {
        switch part {
        case .bus: body(bus)
        case .gate: body(gate)
        case .engine: body(engine)
        }
    }
}
