extension Collection<UInt8> where Index == Int {
    /// A big-endian number at a distance from the start; 0 beyond the end.
    package func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
        let width = Number.bitWidth / 8
        guard offset >= 0, offset + width <= count else { return 0 }
        return self[startIndex + offset..<startIndex + offset + width].reduce(0) { $0 << 8 | Number($1) }
    }
}

extension [UInt8] {
    /// Appends a number, its highest byte first.
    package mutating func append<Number: FixedWidthInteger>(_ number: Number) where Number: UnsignedInteger {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
