/// Finds lost frames in a driver's 32-bit sequence numbers, and makes 64-bit ones of them.
struct SequenceCounter {
    /// What one number told.
    struct Step: Equatable {
        /// The number since the start of the stream, wraps included.
        var sequence: UInt64
        /// Frames missing directly before it.
        var lost: UInt32
        /// The count went backwards: the driver or the writer behind a loopback began anew, and nobody knows what was
        /// lost.
        var restarted = false
    }

    private var last: UInt32 = 0
    private var total: UInt64 = 0
    private var begun = 0
    private var isAnew = false
    private let joinsLate: Bool

    /// A counter at its beginning.
    ///
    /// - Parameter joinsLate: Whether a gap between the first two numbers is no loss.
    init(joinsLate: Bool = false) {
        self.joinsLate = joinsLate
    }

    /// The stream begins anew: the next number says nothing about the last.
    mutating func restart() {
        isAnew = begun > 0
    }

    /// Takes the next number. A repeated one, which drivers under load hand out, is no loss.
    mutating func advance(to sequence: UInt32) -> Step {
        defer { last = sequence }
        begun = min(begun + 1, 3)
        guard begun > 1 else {
            total = UInt64(sequence)
            return Step(sequence: total, lost: 0)
        }
        if isAnew {
            isAnew = false
            total += 1
            return Step(sequence: total, lost: 0, restarted: true)
        }
        let distance = sequence &- last
        if distance == 0 { return Step(sequence: total, lost: 0) }
        if distance >= 1 << 31 {
            total += 1
            return Step(sequence: total, lost: 0, restarted: true)
        }
        total += UInt64(distance)
        return Step(sequence: total, lost: begun == 2 && joinsLate ? 0 : distance - 1)
    }
}
