/// A stretch of memory that is read with bounds and either order of bytes: what lies beyond its end is `nil`.
///
/// Valid as long as the memory that it looks at.
@safe
package struct ByteView {
    private let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
    }

    /// Bytes in view.
    package var count: Int { unsafe bytes.count }

    /// A part of it; empty where the bounds are not met.
    func part(from place: Int, count wanted: Int) -> ByteView? {
        guard place >= 0, wanted >= 0, place <= count, wanted <= count - place else { return nil }
        return unsafe ByteView(UnsafeRawBufferPointer(rebasing: bytes[place..<place + wanted]))
    }

    /// A number at a place, its highest byte first unless told otherwise.
    package func number<Number: FixedWidthInteger & UnsignedInteger>(
        at place: Int,
        _: Number.Type,
        isLittle: Bool = false
    ) -> Number? {
        let width = MemoryLayout<Number>.size
        guard place >= 0, place <= count - width else { return nil }
        let raw = unsafe bytes.loadUnaligned(fromByteOffset: place, as: Number.self)
        return isLittle ? Number(littleEndian: raw) : Number(bigEndian: raw)
    }

    /// A byte at a place.
    func byte(at place: Int) -> UInt8? { number(at: place, UInt8.self) }

    /// Whether the letters of a text stand at a place.
    func has(_ text: StaticString, at place: Int) -> Bool {
        guard let part = part(from: place, count: text.utf8CodeUnitCount) else { return false }
        return unsafe part.bytes.elementsEqual(UnsafeRawBufferPointer(start: text.utf8Start, count: part.count))
    }

    /// The letters from a place to a zero, or as many as are wanted.
    func text(at place: Int, count wanted: Int) -> String? {
        guard let part = part(from: place, count: wanted) else { return nil }
        return unsafe String(decoding: part.bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Calls a function with the memory.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { unsafe body(bytes) }
}
