/// Changes inputs as libFuzzer does, always the same for the same seed: bits, bytes, numbers at their limits, pieces that
/// are repeated, taken out, moved, or spliced in from other inputs and from a dictionary.
struct Mutator: RandomNumberGenerator {
    private var state: UInt64
    private let dictionary: [[UInt8]]

    init(seed: UInt64, dictionary: [String]) {
        state = seed
        self.dictionary = dictionary.map { Array($0.utf8) }
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// One to eight changes of an input, of which at most 4096 bytes remain.
    mutating func mutate(_ input: [UInt8], among others: [[UInt8]]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...8, using: &self) { change(&bytes, others) }
        return Array(bytes.prefix(4096))
    }

    private mutating func change(_ bytes: inout [UInt8], _ others: [[UInt8]]) {
        let place = Int.random(in: 0...bytes.count, using: &self)
        let piece = place..<Int.random(in: place...min(bytes.count, place + 64), using: &self)
        switch Int.random(in: 0..<9, using: &self) {
        case 0: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: place)
        case 1: bytes.removeSubrange(piece)
        case 2: bytes.insert(contentsOf: bytes[piece], at: place)
        case 3: bytes.insert(contentsOf: dictionary.randomElement(using: &self) ?? [], at: place)
        case 4:
            let other = others.randomElement(using: &self) ?? []
            let start = Int.random(in: 0...other.count, using: &self)
            bytes.insert(contentsOf: other[start..<Int.random(in: start...other.count, using: &self)], at: place)
        case 5:
            let limits: [UInt64] = [
                0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
                1 << 63, .max >> 1, .max,
            ]
            let number = limits.randomElement(using: &self) ?? 0
            let width = [1, 2, 4, 8].randomElement(using: &self) ?? 8
            for index in 0..<width where place + index < bytes.count {
                bytes[place + index] = UInt8(truncatingIfNeeded: number >> (index * 8))
            }
        case 6: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self) }
        case 7: if place < bytes.count { bytes[place] = UInt8.random(in: .min ... .max, using: &self) }
        default: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &self)))
        }
    }
}
