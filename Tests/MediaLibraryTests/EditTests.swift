@testable import MediaLibrary
import CaptureCore
import Foundation
import Testing

@Suite struct `Edits and changes of assets` {
    let place: TemporaryLibrary
    let library: LibraryStore
    let asset: MediaAsset

    init() throws {
        (place, library) = try TemporaryLibrary.opened()
        asset = try library.add("original")
        place.pass(days: 1)
    }

    @Test func `are kept beside the original, and can be reverted`() throws {
        var facts = ExaminedMedia.photo
        facts.width = 100
        let edited = try edit("edited", facts)
        #expect(edited.isEdited)
        #expect(edited.id == asset.id)
        #expect(edited.width == 100)
        #expect(edited.size == 6)
        #expect(edited.modified == place.now)
        #expect(edited.created == asset.created)
        #expect(try library.text(asset.id) == "edited")
        #expect(try library.text(asset.id, .original) == "original")
        #expect(try library.quotas.usage(of: asset.program) == LibraryUsage(assets: 1, bytes: 14))

        var plain = asset
        plain.modified = place.now
        #expect(try library.assets.revert(asset.id, scope: .all) == plain)
        #expect(try library.text(asset.id) == "original")
        #expect(place.files("contents").count == 1)
        #expect(try library.quotas.usage(of: asset.program) == LibraryUsage(assets: 1, bytes: 8))
        #expect(try library.assets.revert(asset.id, scope: .all) == plain)
    }

    @Test func `take the place of an earlier edit, whose file goes`() throws {
        _ = try edit("first")
        _ = try edit("second")
        #expect(try library.text(asset.id) == "second")
        #expect(place.files("contents").count == 2)
        _ = try edit("second")
        #expect(try library.text(asset.id) == "second")
        // An edit may come out equal to the original, or to another asset.
        _ = try edit("original")
        _ = try library.assets.revert(asset.id, scope: .all)
        #expect(try library.text(asset.id) == "original")
        #expect(place.files("contents").count == 1)
    }

    @Test func `are of the same kind as the asset, of one that is there and not in the bin`() throws {
        #expect(code { _ = try edit("edited", .sound) } == .badData)
        #expect(code { _ = try library.imports.beginEdit("x", scope: .all) } == .invalidArgument)
        #expect(
            code { _ = try library.imports.beginEdit(String(repeating: "0", count: 32), scope: .all) } == .noSuchAsset
        )
        #expect(code { _ = try library.imports.beginEdit(asset.id, scope: .nothing) } == .noSuchAsset)
        let late = try library.imports.beginEdit(asset.id, scope: .all)
        try late.append("late")
        try library.bin.delete([asset.id], scope: .all)
        #expect(code { _ = try late.settle() } == .wrongState)
        #expect(code { _ = try library.imports.beginEdit(asset.id, scope: .all) } == .wrongState)
        #expect(code { _ = try library.assets.revert(asset.id, scope: .all) } == .wrongState)
        #expect(code { _ = try library.assets.change(asset.id, AssetChanges(name: "b"), scope: .all) } == .wrongState)
        #expect(place.files("contents").count == 1)
        #expect(place.files("transit").isEmpty)
    }

    @Test func `are not taken of an asset that was taken away from the program meanwhile`() throws {
        let program = "exe:/usr/bin/viewer"
        let other = try library.add("other", program: program)
        for loss in [
            { try library.choices.unchoose(program, [asset.id]) }, { try library.choices.forgetChosen(program) },
            { try library.bin.delete([asset.id], scope: .all) },
        ] {
            _ = try library.choices.choose(program, [asset.id])
            let scope = LibraryScope.limited(program: program)
            let item = try library.imports.beginEdit(asset.id, scope: scope, program: program)
            try item.append("edit")
            try loss()
            #expect(code { _ = try item.settle() } == .noSuchAsset)
        }
        try library.bin.restore([asset.id], scope: .all)
        #expect(try library.text(asset.id) == "original")
        #expect(place.files("contents").count == 2)
        #expect(try library.quotas.usage(of: program) == LibraryUsage(assets: 1, bytes: Int64(other.size)))
    }

    @Test func `of what is said change that alone`() throws {
        let there = try MediaPlace(latitude: -1, longitude: 2).checked()
        var expected = asset
        expected.modified = place.now
        func change(_ change: AssetChanges) throws -> MediaAsset {
            try library.assets.change(asset.id, change, scope: .all)
        }
        #expect(try change(AssetChanges()) == asset)
        expected.name = "b.jpg"
        #expect(try change(AssetChanges(name: "b.jpg")) == expected)
        expected.isFavourite = true
        #expect(try change(AssetChanges(isFavourite: true)) == expected)
        expected.place = there
        #expect(try change(AssetChanges(place: there)) == expected)
        expected.created = 5
        #expect(try change(AssetChanges(created: 5)) == expected)
        expected.place = nil
        var nowhere = AssetChanges()
        nowhere.removesPlace = true
        #expect(try change(nowhere) == expected)
        expected.isFavourite = false
        #expect(try change(AssetChanges(isFavourite: false)) == expected)
        #expect(code { _ = try change(AssetChanges(name: "a/b")) } == .invalidArgument)
        #expect(code { _ = try change(AssetChanges(created: .min)) } == .invalidArgument)
        #expect(try library.text(asset.id) == "original")
    }

    @Test func `say the same of an asset that is not seen as of one that is not there`() throws {
        let absent = String(repeating: "0", count: 32)
        func message(_ id: String) -> String {
            do {
                _ = try library.contents.open(id, scope: .nothing)
                return ""
            } catch {
                return error.message.replacingOccurrences(of: id, with: "ID")
            }
        }
        #expect(message(asset.id) == message(absent))
        #expect(message(asset.id) != "")
    }

    private func edit(_ text: String, _ facts: ExaminedMedia = .photo) throws -> MediaAsset {
        let item = try library.imports.beginEdit(asset.id, scope: .all)
        try item.append(text)
        return try item.settle(facts)
    }
}
