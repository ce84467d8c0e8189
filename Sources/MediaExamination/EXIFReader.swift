/// What a camera wrote beside its picture: which way is up, and when it was taken. The form of TIFF 6.0 and EXIF 2.32.
///
/// Bytes from strangers: every place is checked, no entry leads to another list but those two that EXIF has.
package struct EXIFReader {
    /// How the stored picture lies.
    package private(set) var orientation = PictureOrientation.upright
    /// When it was taken, in milliseconds since 1970.
    package private(set) var date: Int64?
    /// Whether it is that of a DNG, which is a TIFF with a version of its own.
    private(set) var isDNG = false

    private let bytes: ByteView
    private let isLittle: Bool

    /// Reads the lists; `nil` for what does not begin as EXIF does.
    init?(_ bytes: ByteView) {
        if bytes.has("II", at: 0) {
            isLittle = true
        } else if bytes.has("MM", at: 0) {
            isLittle = false
        } else {
            return nil
        }
        self.bytes = bytes
        guard let first = bytes.number(at: 4, UInt32.self, isLittle: isLittle) else { return nil }
        let main = entries(at: Int(first))
        if let value = main[0x0112].flatMap({ bytes.number(at: $0 + 8, UInt16.self, isLittle: isLittle) }) {
            orientation = PictureOrientation(rawValue: Int(value)) ?? .upright
        }
        isDNG = main[0xc612] != nil
        let more = main[0x8769].flatMap { bytes.number(at: $0 + 8, UInt32.self, isLittle: isLittle) }
        let exif = more.map { entries(at: Int($0)) } ?? [:]
        let original = exif[0x9003].flatMap(text)
        // Digitized, and changed, are better than nothing.
        let taken = original ?? exif[0x9004].flatMap(text) ?? main[0x0132].flatMap(text)
        let zone = exif[0x9011].flatMap(text) ?? exif[0x9010].flatMap(text)
        let fraction = original == nil ? nil : exif[0x9291].flatMap(text)
        date = taken.flatMap { MediaDate.exif($0, fraction: fraction, zone: zone) }
    }

    /// Where the entry of each tag of a list stands.
    private func entries(at place: Int) -> [UInt16: Int] {
        var found: [UInt16: Int] = [:]
        guard let count = bytes.number(at: place, UInt16.self, isLittle: isLittle) else { return found }
        for index in 0..<Int(count) {
            let entry = place + 2 + index * 12
            guard let tag = bytes.number(at: entry, UInt16.self, isLittle: isLittle) else { break }
            if found[tag] == nil { found[tag] = entry }
        }
        return found
    }

    /// The letters of an entry; up to four of them stand in the entry itself.
    private func text(_ entry: Int) -> String? {
        guard bytes.number(at: entry + 2, UInt16.self, isLittle: isLittle) == 2,
            let count = bytes.number(at: entry + 4, UInt32.self, isLittle: isLittle), count <= 64
        else { return nil }
        if count <= 4 { return bytes.text(at: entry + 8, count: Int(count)) }
        guard let place = bytes.number(at: entry + 8, UInt32.self, isLittle: isLittle) else { return nil }
        return bytes.text(at: Int(place), count: Int(count))
    }
}
