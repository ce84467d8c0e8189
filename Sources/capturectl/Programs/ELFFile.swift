/// What a program or library in ELF needs: elf(5). The file may be damaged, or made to mislead: every number in it is
/// checked against the file's size before it is used.
struct ELFFile {
    /// A part of the file that is loaded.
    private struct Part {
        var type: UInt32
        var flags: UInt32
        var offset: UInt64
        var address: UInt64
        var size: UInt64
    }

    /// Bits of an address: 32 or 64.
    let bits: Int
    /// Which processor it is for, as in `e_machine`.
    let machine: UInt16
    /// Whether it names the program that loads it, as what is linked dynamically does.
    let hasInterpreter: Bool
    /// Whether it has a dynamic section, as libraries have, too.
    let isDynamic: Bool
    /// Whether Go's linker made it.
    let isGo: Bool
    /// The libraries that it needs, by name.
    let libraries: [String]
    /// Where it looks for libraries first.
    let folders: [String]
    /// The names that it takes from libraries or has for others, each behind a zero.
    private let names: [UInt8]
    private let parts: [Part]
    private let source: ByteSource

    private static let load: UInt32 = 1, dynamic: UInt32 = 2, interpreter: UInt32 = 3, note: UInt32 = 4

    /// - Returns: `nil` if it is no ELF file, or not a whole one.
    init?(_ source: ByteSource) {
        guard let head = source.bytes(at: 0, 64) ?? source.bytes(at: 0, 52),
            head.starts(with: [0x7f, 0x45, 0x4c, 0x46])
        else { return nil }
        let isWide = head[4] == 2
        guard isWide || head[4] == 1, head[5] == 1 || head[5] == 2, !isWide || head.count == 64 else { return nil }
        let reader = Reader(isWide: isWide, isLittle: head[5] == 1)
        (bits, machine) = (isWide ? 64 : 32, UInt16(reader.number(head, 18, 2)))
        let place = reader.word(head, isWide ? 32 : 28)
        let (size, count) = (reader.number(head, isWide ? 54 : 42, 2), reader.number(head, isWide ? 56 : 44, 2))
        // 0xffff says that the number is elsewhere; no program needs so many.
        guard size == (isWide ? 56 : 32), count <= 1024, let table = source.bytes(at: place, size * count) else {
            return nil
        }
        parts = stride(from: 0, to: table.count, by: Int(size)).map { start in
            Part(
                type: UInt32(reader.number(table, start, 4)),
                flags: UInt32(reader.number(table, start + (isWide ? 4 : 24), 4)),
                offset: reader.word(table, start + (isWide ? 8 : 4)),
                address: reader.word(table, start + (isWide ? 16 : 8)),
                size: reader.word(table, start + (isWide ? 32 : 16))
            )
        }
        self.source = source
        hasInterpreter = parts.contains { $0.type == ELFFile.interpreter }
        isGo = parts.contains { $0.type == ELFFile.note && ELFFile.isOfGo($0.offset, $0.size, source, reader) }
        guard let section = parts.first(where: { $0.type == ELFFile.dynamic }) else {
            (isDynamic, libraries, folders, names) = (false, [], [], [])
            return
        }
        isDynamic = true
        let found = ELFFile.dynamicSection(section, parts, source, reader)
        (libraries, folders, names) = found
    }

    /// Whether it takes a name from a library, or has it for others.
    func has(_ name: String) -> Bool { BytePattern("\0\(name)\0").isIn(names) }

    /// Whether it has a name that begins so.
    func hasName(beginning name: String) -> Bool { BytePattern("\0\(name)").isIn(names) }

    /// Which of some texts are in what it loads and does not change: its constants.
    ///
    /// - Parameter limit: The bytes that are looked at.
    func texts(_ patterns: [BytePattern], limit: UInt64 = 1 << 26) -> Set<Int> {
        var found: Set<Int> = []
        var left = limit
        let constant = parts.filter { $0.type == ELFFile.load && $0.flags & 2 == 0 }
        // Older linkers put constants beside code.
        let separate = constant.filter { $0.flags & 1 == 0 }
        let overlap = UInt64(max(patterns.map(\.bytes.count).max() ?? 0, 1) - 1)
        for part in separate.count > 1 ? separate : constant {
            var place = part.offset
            let end = part.offset.addingReportingOverflow(part.size)
            guard !end.overflow else { continue }
            while place < min(end.partialValue, source.size), left > 0, found.count < patterns.count {
                let count = min(1 << 20, min(end.partialValue, source.size) - place, left)
                guard let bytes = source.bytes(at: place, count) else { return found }
                for (number, pattern) in patterns.enumerated() where !found.contains(number) && pattern.isIn(bytes) {
                    found.insert(number)
                }
                left -= count
                place += count > overlap && place + count < end.partialValue ? count - overlap : count
            }
        }
        return found
    }

    /// The numbers of an ELF file, in its width and order. A place beyond the end is a fault of this code alone: the callers
    /// have checked it.
    private struct Reader {
        let isWide: Bool
        let isLittle: Bool

        func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { sum, step in
                sum << 8 | UInt64(bytes[place + (isLittle ? count - 1 - step : step)])
            }
        }

        /// An address or a size.
        func word(_ bytes: [UInt8], _ place: Int) -> UInt64 { number(bytes, place, isWide ? 8 : 4) }
    }

    private static func dynamicSection(
        _ section: Part,
        _ parts: [Part],
        _ source: ByteSource,
        _ reader: Reader
    ) -> (libraries: [String], folders: [String], names: [UInt8]) {
        let width = reader.isWide ? 16 : 8
        guard let entries = source.bytes(at: section.offset, min(section.size, 1 << 16)) else { return ([], [], []) }
        var (needed, searched): ([UInt64], [UInt64]) = ([], [])
        var (address, size): (UInt64?, UInt64) = (nil, 0)
        for place in stride(from: 0, through: entries.count - width, by: width) {
            let value = reader.word(entries, place + width / 2)
            let tag = reader.word(entries, place)
            if tag == 0 { break }
            switch tag {
            case 1: needed.append(value)
            case 5: address = value
            case 10: size = value
            case 15, 29: searched.append(value)
            default: continue
            }
        }
        // Its address is where it will be loaded; a part tells where in the file that is.
        guard let address, size > 0, size <= 1 << 24,
            let home = parts.first(where: { $0.type == load && $0.address <= address && address - $0.address < $0.size }
            ),
            let offset = sum(home.offset, address - home.address),
            let names = source.bytes(at: offset, min(size, home.size - (address - home.address)))
        else { return ([], [], []) }
        func text(_ place: UInt64) -> String? {
            guard place < names.count else { return nil }
            let bytes = names[Int(place)...].prefix(4096).prefix { $0 != 0 }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
        return (
            needed.prefix(512).compactMap(text),
            searched.compactMap(text).flatMap { $0.split(separator: ":").map(String.init) }, names
        )
    }

    private static func sum(_ first: UInt64, _ second: UInt64) -> UInt64? {
        let sum = first.addingReportingOverflow(second)
        return sum.overflow ? nil : sum.partialValue
    }

    /// Whether one of a part's notes is from Go's linker.
    private static func isOfGo(_ offset: UInt64, _ size: UInt64, _ source: ByteSource, _ reader: Reader) -> Bool {
        guard let notes = source.bytes(at: offset, min(size, 4096)) else { return false }
        var place = 0
        while place + 12 <= notes.count {
            let (name, rest) = (Int(reader.number(notes, place, 4)), Int(reader.number(notes, place + 4, 4)))
            if name == 4, place + 16 <= notes.count, notes[place + 12..<place + 16].elementsEqual([0x47, 0x6f, 0, 0]) {
                return true
            }
            place += 12 + (name + 3) / 4 * 4 + (rest + 3) / 4 * 4
        }
        return false
    }
}
