@testable import MediaLibrary
import CaptureCore
import Testing

@Suite struct `Assets by the first digits of their ids` {
    let temporary: TemporaryLibrary
    let library: LibraryStore

    init() throws {
        (temporary, library) = try TemporaryLibrary.opened()
        try library.hurry()
    }

    private func digits(_ count: Int, of id: String) -> String { String(id.prefix(count)) }

    @Test func `are those that begin with them, ten at most, in the order that was asked for`() throws {
        let ids = try (1...12).map { try library.put($0) }
        let other = try library.put(0x100_0000_0000)
        #expect(
            try library.assets.ids(beginningWith: [digits(22, of: other), ids[4]], scope: .all) == [other, ids[4]]
        )
        #expect(try library.assets.ids(beginningWith: [digits(30, of: ids[0])], scope: .all) == Array(ids[..<10]))
        #expect(try library.assets.ids(beginningWith: [String(repeating: "f", count: 32)], scope: .all).isEmpty)
        #expect(try library.assets.ids(beginningWith: [], scope: .all).isEmpty)
    }

    @Test func `are of what is in the bin, or of what is not`() throws {
        let ids = try [library.put(1), library.put(2)]
        try library.bin.delete([ids[0]], scope: .all)
        #expect(try library.assets.ids(beginningWith: [digits(6, of: ids[0])], scope: .all) == [ids[1]])
        #expect(try library.assets.ids(beginningWith: [digits(6, of: ids[0])], isBinned: true, scope: .all) == [ids[0]])
    }

    @Test func `are of what the reader sees alone`() throws {
        let ids = try (1...20).map { try library.put($0) } + [try library.put(21, program: "app:limited")]
        let scope = LibraryScope.limited(program: "app:limited")
        _ = try library.choices.choose("app:limited", [ids[18]])
        // Not lost behind ten that it does not see.
        #expect(try library.assets.ids(beginningWith: [digits(6, of: ids[0])], scope: scope) == [ids[18], ids[20]])
        #expect(try library.assets.ids(beginningWith: [ids[0]], scope: scope).isEmpty)
        #expect(try library.assets.ids(beginningWith: [ids[0]], scope: .nothing).isEmpty)
        #expect(
            code { _ = try library.assets.ids(beginningWith: [ids[0]], isBinned: true, scope: scope) } == .notPermitted
        )
    }

    @Test(arguments: ["", "00000", "ABCDEF", "00000g", "000000%", String(repeating: "0", count: 33)])
    func `are not looked for by what no id begins with`(text: String) {
        #expect(code { _ = try library.assets.ids(beginningWith: [text], scope: .all) } == .invalidArgument)
    }
}
