import CaptureCore
import Testing

@testable import MediaLibrary

/// What a person picked, and what is chosen in settings.
struct PickedTests {
    private let temporary: TemporaryLibrary
    private let library: LibraryStore

    init() throws { (temporary, library) = try TemporaryLibrary.opened() }

    @Test func `contents come in the order given, without what is gone, in the bin or of another kind`() throws {
        let first = try library.add("one", "1.jpg")
        let second = try library.add("two", "2.jpg")
        let sound = try library.add("three", "3.flac", facts: .sound)
        let binned = try library.add("four", "4.jpg")
        try library.bin.delete([binned.id], scope: .all)
        let ids = [second.id, String(repeating: "a", count: 32), sound.id, binned.id, first.id]
        #expect(try library.contents.contents(of: ids).map(\.asset.name) == ["2.jpg", "3.flac", "1.jpg"])
        #expect(try library.contents.contents(of: ids, kinds: [.photo]).map(\.asset.name) == ["2.jpg", "1.jpg"])
        #expect(code { _ = try library.contents.contents(of: ["x"]) } == .invalidArgument)
    }

    @Test func `what was picked is opened as it was, whatever was made of it since`() throws {
        let asset = try library.add("before", "1.jpg")
        let picked = try library.contents.contents(of: [asset.id])[0]
        let edit = try library.imports.beginEdit(asset.id, scope: .all)
        try edit.append("after")
        _ = try edit.settle()
        #expect(try library.text(asset.id) == "after")
        #expect(text(of: try library.contents.open(picked)) == "before")
        let edited = try library.contents.contents(of: [asset.id])[0]
        #expect(text(of: try library.contents.open(edited)) == "after")
        _ = try library.assets.revert(asset.id, scope: .all)
        #expect(code { _ = try library.contents.open(edited) } == .noSuchAsset)
        try library.bin.delete([asset.id], scope: .all)
        #expect(code { _ = try library.contents.open(picked) } == .noSuchAsset)
    }

    @Test func `an id of what was picked finds the asset for its program alone, as far as that sees it`() throws {
        let (program, other) = ("app:limited", "app:other")
        let assets = try ["1.jpg", "2.jpg", "3.jpg"].map { try library.add($0, $0).id }
        let own = try library.add("own", "4.jpg", program: program).id
        let ids = try library.picks.ids(of: assets + [own], for: program)
        #expect(try library.picks.ids(of: assets + [own], for: program) == ids)
        #expect(Set(ids + (try library.picks.ids(of: assets, for: other))).count == 7)
        #expect(ids.allSatisfy { $0.utf8.count == 88 })
        func found(_ ids: [String], _ scope: LibraryScope, for name: String = program) throws -> [String] {
            try library.picks.assets(of: ids, for: name, scope: scope).map(\.id)
        }
        let limited = LibraryScope.limited(program: program)
        #expect(try found(ids.reversed(), .all) == [own] + assets.reversed())
        #expect(try found(ids, .nothing).isEmpty)
        #expect(try found(ids, limited) == [own])
        _ = try library.choices.choose(program, [assets[1]])
        #expect(try found(ids, limited) == [assets[1], own])
        // The ids of assets find them by the same rule, and nothing comes twice.
        #expect(try found(assets + ids, limited) == [assets[1], own])
        #expect(try found(ids, .all, for: other).isEmpty)
        #expect(try found(ids, .limited(program: other), for: other).isEmpty)
        try library.bin.delete([assets[0]], scope: .all)
        #expect(try found(ids, .all) == [assets[1], assets[2], own])
        try library.bin.empty(olderThan: 0)
        #expect(try found(ids, .all) == [assets[1], assets[2], own])
        let elsewhere = try TemporaryLibrary()
        #expect(try elsewhere.library().picks.assets(of: ids, for: program, scope: .all).isEmpty)
        #expect(code { _ = try library.picks.ids(of: ["x"], for: program) } == .invalidArgument)
    }

    @Test func `an id that was changed at any place finds nothing`() throws {
        let asset = try library.add("one", "1.jpg").id
        let id = try library.picks.ids(of: [asset], for: "app:one")[0]
        let digits = Array(id.utf8)
        let damaged = digits.indices.map { place in
            var digits = digits
            digits[place] = digits[place] == 0x30 ? 0x31 : 0x30
            return String(decoding: digits, as: UTF8.self)
        }
        #expect(try library.picks.assets(of: damaged, for: "app:one", scope: .all).isEmpty)
        #expect(try library.picks.assets(of: [id], for: "app:one", scope: .all).map(\.id) == [asset])
    }

    @Test func `a choice is taken back in parts, and what a program made stays visible to it`() throws {
        let program = "app:limited"
        let others = try (1...3).map { try library.add("\($0)", "\($0).jpg").id }
        let own = try library.add("own", "4.jpg", program: program).id
        let all = others + [own]
        _ = try library.choices.choose(program, [others[0], others[1]])
        #expect(try library.choices.visible(to: program, among: all) == [others[0], others[1], own])
        try library.choices.unchoose(program, [others[0], others[2], own])
        #expect(try library.choices.visible(to: program, among: all) == [others[1], own])
        #expect(try library.assets.count(AssetFetchOptions(), scope: .limited(program: program)) == 2)
        #expect(code { try library.choices.unchoose(program, ["x"]) } == .invalidArgument)
        #expect(code { try library.choices.unchoose("", []) } == .invalidArgument)
    }
}
