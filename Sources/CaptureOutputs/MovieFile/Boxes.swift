import MediaExamination

/// Boxes of ISO/IEC 14496-12: a length, four letters, and a body of fields or boxes. All numbers are big-endian.
struct Box {
    /// The four letters.
    let type: String
    /// What follows the header.
    var body: [UInt8]

    /// Header and body.
    var bytes: [UInt8] {
        var out: [UInt8] = []
        out.append(UInt32(body.count + 8))
        out += Array(type.utf8) + body
        return out
    }

    init(_ type: String, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }

    init(_ type: String, _ children: [Box]) {
        self.type = type
        body = children.flatMap(\.bytes)
    }

    /// The boxes that the body consists of; what is damaged ends the list.
    var children: [Box] { Box.list(body[...]) }

    /// The first box on a path of types below this one.
    func descendant(_ path: String...) -> Box? {
        var here: Box? = self
        for type in path { here = here?.children.first { $0.type == type } }
        return here
    }

    /// The boxes that stand one behind the other.
    static func list(_ bytes: ArraySlice<UInt8>) -> [Box] {
        var boxes: [Box] = []
        var rest = bytes
        while rest.count >= 8 {
            let size = Int(rest.number(at: 0, UInt32.self))
            guard size >= 8, size <= rest.count else { break }
            let start = rest.startIndex
            let type = String(decoding: rest[start + 4..<start + 8], as: UTF8.self)
            boxes.append(Box(type, Array(rest[start + 8..<start + size])))
            rest = rest[(start + size)...]
        }
        return boxes
    }
}
