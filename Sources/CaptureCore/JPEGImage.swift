/// What can be told of a JPEG without decoding it and without allocation.
package enum JPEGImage {
    /// The length of a whole JPEG, from its SOI through its EOI, without what cameras write behind it: fill, a few bytes,
    /// or what an older, longer frame left in the buffer; `nil` when it breaks off before its EOI.
    ///
    /// Segments are passed over by their lengths, since one may hold a small JPEG of its own. Within entropy-coded data a
    /// 0xff is always followed by a zero or a restart marker. Rules: ITU-T T.81, annex B.
    ///
    /// - Parameter hasFill: Whether anything may stand between two segments.
    package static func length(_ bytes: UnsafeRawBufferPointer, hasFill: Bool = false) -> Int? {
        guard bytes.count >= 4, unsafe bytes[0] == 0xff, unsafe bytes[1] == 0xd8 else { return nil }
        var index = 2
        var hasPicture = false
        while index + 1 < bytes.count {
            guard unsafe bytes[index] == 0xff else {
                guard hasFill else { return nil }
                index += 1
                continue
            }
            let marker = unsafe bytes[index + 1]
            switch marker {
            case 0xff: index += 1
            case 0xd9: return hasPicture ? index + 2 : nil
            case 0x01, 0xd0...0xd7: index += 2
            default:
                guard index + 3 < bytes.count else { return nil }
                let length = unsafe Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
                guard length >= 2 else { return nil }
                index += 2 + length
                if marker == 0xda {
                    guard let next = unsafe nextMarker(in: bytes, from: index) else { return nil }
                    index = next
                    hasPicture = true
                }
            }
        }
        return nil
    }

    /// Where the marker behind entropy-coded data is; `nil` when the data ends first.
    private static func nextMarker(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            index = unsafe passedOver(bytes, from: index)
            let end = min(index + blockSize, bytes.count - 1)
            while index < end {
                guard unsafe bytes[index] == 0xff else {
                    index += 1
                    continue
                }
                switch unsafe bytes[index + 1] {
                case 0x00, 0xd0...0xd7: index += 2
                case 0xff: index += 1
                default: return index
                }
            }
        }
        return nil
    }

    /// Bytes that are looked at together.
    private static let blockSize = 64

    /// The first block, counted from a place, that has a 0xff with anything but a zero behind it: some data has a 0xff in
    /// every other block.
    @inline(__always)
    private static func passedOver(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let (full, none) = (SIMD16<UInt8>(repeating: 0xff), SIMD16<UInt8>())
        @inline(__always) func marks(_ place: Int) -> SIMD16<UInt8> {
            let first = unsafe bytes.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
            let second = unsafe bytes.loadUnaligned(fromByteOffset: place + 1, as: SIMD16<UInt8>.self)
            return none.replacing(with: full, where: (first .== full) .& (second .!= none))
        }
        var index = start
        while index + blockSize < bytes.count {
            let found = (marks(index) | marks(index + 16)) | (marks(index + 32) | marks(index + 48))
            let halves = unsafe unsafeBitCast(found, to: SIMD2<UInt64>.self)
            if halves.x | halves.y != 0 { break }
            index += blockSize
        }
        return index
    }
}
