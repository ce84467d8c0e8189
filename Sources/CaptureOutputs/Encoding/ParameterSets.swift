/// The parts of an access unit with start codes (Annex B of H.264 and H.265).
struct ParameterSets {
    /// Parameter sets with start codes, in order; what a player needs before the first picture.
    private(set) var header: [UInt8] = []
    /// Whether there is one of each kind that decoding needs.
    var isComplete: Bool { kinds.count == (isHEVC ? 3 : 2) }
    private var kinds: Set<UInt8> = []
    private let isHEVC: Bool
    /// Whether decoding can begin here.
    private(set) var isKeyframe = false

    /// Looks through an access unit.
    init(_ unit: UnsafeRawBufferPointer, isHEVC: Bool) {
        self.isHEVC = isHEVC
        var start = unsafe ParameterSets.next(unit, from: 0)
        while let begin = start {
            let following = unsafe ParameterSets.next(unit, from: begin)
            var end = following.map { $0 - 3 } ?? unit.count
            // The zero of a long start code, and zeros that fill up, belong to no unit.
            while end > begin, unsafe unit[end - 1] == 0 { end -= 1 }
            if begin < end {
                let first = unsafe unit[begin]
                let type = isHEVC ? (first >> 1) & 0x3f : first & 0x1f
                let isSet = isHEVC ? (32...34).contains(type) : type == 7 || type == 8
                if isHEVC ? (16...21).contains(type) : type == 5 { isKeyframe = true }
                if isSet {
                    kinds.insert(type)
                    header += [0, 0, 0, 1]
                    unsafe header += unit[begin..<end]
                }
            }
            start = following
        }
    }

    /// The byte behind the next start code.
    private static func next(_ unit: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = from
        while index + 3 <= unit.count {
            if unsafe unit[index] == 0, unsafe unit[index + 1] == 0, unsafe unit[index + 2] == 1 { return index + 3 }
            index += 1
        }
        return nil
    }
}
