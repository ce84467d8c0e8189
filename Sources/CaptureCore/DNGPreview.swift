/// Where a DNG has its JPEG: the same picture, developed, in full size. The form of TIFF 6 and DNG 1.4.
///
/// Bytes from strangers: every place is checked, and no directory leads to another but the first.
package struct DNGPreview: Hashable, Sendable {
    /// A JPEG of more bytes is refused.
    private static let mostBytes: Int64 = 1 << 30
    private static let mostDirectories = 16
    private static let mostEntries = 4096

    /// Where the JPEG begins.
    package let place: Int64
    /// Its bytes.
    package let count: Int
    /// Of the JPEG and of the sensor's numbers, in pixels.
    package let (width, height): (Int, Int)

    /// Looks for it.
    ///
    /// - Parameters:
    ///   - size: Of the file.
    ///   - read: Gives so many bytes from a place on; fewer where the file ends.
    /// - Returns: `nil` for a file that is no DNG, or has no such JPEG.
    /// - Throws: `badData` for a file that says something impossible; what `read` throws.
    package static func find(
        size: Int64,
        read: (_ place: Int64, _ count: Int) throws(CaptureError) -> [UInt8]
    ) throws(CaptureError) -> DNGPreview? {
        func bytes(_ place: Int64, _ count: Int) throws(CaptureError) -> [UInt8] {
            guard place >= 0, count >= 0, place <= size, Int64(count) <= size - place else {
                throw CaptureError(.badData, "the DNG has \(size) bytes, and says that \(count) are at \(place)")
            }
            let found = try read(place, count)
            guard found.count == count else {
                throw CaptureError(.badData, "the DNG ends at \(place + Int64(found.count)) of \(size) bytes")
            }
            return found
        }
        guard size >= 8, let numbers = TIFFNumbers(try bytes(0, 8)) else { return nil }
        func directory(_ place: Int64) throws(CaptureError) -> TIFFDirectory {
            let count = numbers.number(try bytes(place, 2), 0, 2)
            guard count <= mostEntries else {
                throw CaptureError(
                    .badData,
                    "the DNG has \(count) entries at \(place); at most \(mostEntries) are read"
                )
            }
            return TIFFDirectory(numbers, try bytes(place + 2, count * 12))
        }
        let main = try directory(Int64(numbers.first))
        guard main.has(.version) else { return nil }
        var others: [Int] = []
        if let (count, place) = main.list(.subdirectories) {
            guard count <= mostDirectories else {
                throw CaptureError(.badData, "the DNG has \(count) directories; at most \(mostDirectories) are read")
            }
            let list = try count == 1 ? [] : bytes(Int64(place), count * 4)
            others = count == 1 ? [place] : (0..<count).map { numbers.number(list, $0 * 4, 4) }
        }
        var directories = [main]
        for place in others { directories.append(try directory(Int64(place))) }
        guard let raw = directories.first(where: { $0.number(.kind) ?? 0 == 0 }),
            let width = raw.number(.width), let height = raw.number(.height),
            let shown = directories.first(where: {
                $0.isJPEG && $0.number(.width) == width && $0.number(.height) == height
            }),
            let place = shown.number(.place), let count = shown.number(.bytes)
        else { return nil }
        guard count >= 4, Int64(count) <= mostBytes, try bytes(Int64(place), 3) == [0xff, 0xd8, 0xff],
            try bytes(Int64(place) + Int64(count) - 2, 2) == [0xff, 0xd9]
        else { throw CaptureError(.badData, "the DNG says that it has a JPEG at \(place), but no JPEG is there") }
        return DNGPreview(place: Int64(place), count: count, width: width, height: height)
    }
}

/// Numbers of a TIFF in its order of bytes.
private struct TIFFNumbers {
    let isLittle: Bool
    /// Where the first directory is.
    private(set) var first = 0

    /// The order that the head of a file names; `nil` for the head of anything else.
    init?(_ head: [UInt8]) {
        switch Array(head.prefix(4)) {
        case [0x49, 0x49, 42, 0]: isLittle = true
        case [0x4d, 0x4d, 0, 42]: isLittle = false
        default: return nil
        }
        first = number(head, 4, 4)
    }

    /// The number of so many bytes at a place, which is within them.
    func number(_ bytes: [UInt8], _ place: Int, _ width: Int) -> Int {
        let part = bytes[place..<place + width]
        return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The entries of a directory of a TIFF, 12 bytes each.
private struct TIFFDirectory {
    enum Tag: Int {
        case kind = 254
        case width = 256
        case height = 257
        case compression = 259
        case meaning = 262
        case place = 273
        case bytes = 279
        case subdirectories = 330
        case version = 50706
    }

    private let numbers: TIFFNumbers
    private let entries: [UInt8]

    init(_ numbers: TIFFNumbers, _ entries: [UInt8]) {
        self.numbers = numbers
        self.entries = entries
    }

    /// Whether its picture is a JPEG in one piece, of luma and chroma, that is no more than a preview.
    var isJPEG: Bool { number(.kind) == 1 && number(.compression) == 7 && number(.meaning) == 6 }

    func has(_ tag: Tag) -> Bool { entry(tag) != nil }

    /// A value of one whole number.
    func number(_ tag: Tag) -> Int? {
        guard let entry = entry(tag), numbers.number(entries, entry + 4, 4) == 1 else { return nil }
        switch numbers.number(entries, entry + 2, 2) {
        case 3: return numbers.number(entries, entry + 8, 2)
        case 4, 13: return numbers.number(entries, entry + 8, 4)
        default: return nil
        }
    }

    /// How many numbers of four bytes a value has, and where they are; a single one is there itself.
    func list(_ tag: Tag) -> (count: Int, place: Int)? {
        guard let entry = entry(tag), [4, 13].contains(numbers.number(entries, entry + 2, 2)) else { return nil }
        let count = numbers.number(entries, entry + 4, 4)
        return count == 0 ? nil : (count, numbers.number(entries, entry + 8, 4))
    }

    private func entry(_ tag: Tag) -> Int? {
        stride(from: 0, to: entries.count, by: 12).first { numbers.number(entries, $0, 2) == tag.rawValue }
    }
}
