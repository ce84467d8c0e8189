@testable import MediaLibrary
import CaptureCore
import Foundation
import Testing

@Suite struct `Contents and changes for a program that sees a part of the library` {
    let place: TemporaryLibrary
    let library: LibraryStore
    private let own: MediaAsset
    private let chosen: MediaAsset
    private let hidden: MediaAsset
    private let program = "exe:/usr/bin/viewer"
    private var scope: LibraryScope { .limited(program: program) }

    init() throws {
        (place, library) = try TemporaryLibrary.opened()
        own = try library.add("own", program: program)
        chosen = try library.add("chosen")
        hidden = try library.add("hidden")
        _ = try library.choices.choose(program, [chosen.id])
    }

    @Test func `opens, changes, edits and deletes what it made and what was chosen for it`() throws {
        for asset in [own, chosen] {
            #expect(try library.text(asset.id, scope: scope) != "")
            #expect(try library.assets.change(asset.id, AssetChanges(name: "new.jpg"), scope: scope).name == "new.jpg")
            let item = try library.imports.beginEdit(asset.id, scope: scope)
            try item.append("edit \(asset.id)")
            #expect(try item.settle().isEdited)
            #expect(try !library.assets.revert(asset.id, scope: scope).isEdited)
            try library.bin.delete([asset.id], scope: scope)
        }
    }

    @Test func `is told the same of others' assets as of those that are not there, by every call`() throws {
        let file = try library.contents.open(hidden.id, scope: .all)
        #expect(try library.contents.storeThumbnails([.small: [1]], of: hidden.id, madeFrom: file))
        close(file)
        let absent = String(repeating: "0", count: 32)
        let calls: [(String) throws -> Void] = [
            { _ = try library.contents.open($0, scope: scope) },
            { _ = try library.contents.open($0, version: .original, scope: scope) },
            { _ = try library.contents.openThumbnail($0, size: .small, scope: scope) },
            { _ = try library.assets.change($0, AssetChanges(isFavourite: true), scope: scope) },
            { _ = try library.imports.beginEdit($0, scope: scope) },
            { _ = try library.assets.revert($0, scope: scope) },
            { try library.bin.delete([own.id, $0], scope: scope) },
            { try library.bin.restore([$0], scope: scope) },
        ]
        for call in calls {
            let told = [hidden.id, absent].map { id in
                do {
                    try call(id)
                    return "nothing"
                } catch {
                    return "\(error)".replacingOccurrences(of: id, with: "ID")
                }
            }
            #expect(told == ["there is no asset ID", "there is no asset ID"])
        }
        #expect(try library.text(own.id, scope: scope) == "own")
    }

    @Test func `sees nothing of the bin, its own assets included`() throws {
        try library.bin.delete([own.id, chosen.id], scope: .all)
        for asset in [own, chosen] {
            #expect(code { _ = try library.contents.open(asset.id, scope: scope) } == .noSuchAsset)
            #expect(code { try library.bin.restore([asset.id], scope: scope) } == .noSuchAsset)
        }
        try library.bin.restore([own.id], scope: .all)
        #expect(try library.text(own.id, scope: scope) == "own")
    }
}
