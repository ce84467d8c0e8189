@testable import MediaLibrary
import CaptureCore
import Dispatch
import Foundation
import GRDB
import Synchronization
import Testing

@Suite struct `A library that is changed while that is permitted` {
    let place: TemporaryLibrary
    let library: LibraryStore
    private let cheese = "exe:/usr/bin/cheese"

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    @Test(arguments: [1, 2], [false, true])
    func `takes an import whole or not at all, whenever the permission goes`(_ end: Int, _ isThere: Bool) throws {
        if isThere { try library.add("photo") }
        let usage = try library.quotas.usage(of: nil)
        let permission = Permission(until: end)
        let item = try item("photo")
        #expect(
            code {
                _ = try library.whilePermitted(permission.check) { () throws(CaptureError) in try item.commit(.photo) }
            } == .denied
        )
        #expect(permission.count == end)
        try expectUntouched(usage, contents: isThere ? 1 : 0)

        let later = try self.item("photo")
        let asset = try library.whilePermitted(Permission(until: 3).check) { () throws(CaptureError) in
            try later.commit(.photo)
        }
        #expect(try library.text(asset.id) == "photo")
        #expect(try library.check() == [])
    }

    @Test(arguments: [1, 2], [false, true])
    func `takes an edit whole or not at all, whenever the permission goes`(_ end: Int, _ isThere: Bool) throws {
        let asset = try library.add("photo")
        if isThere { try library.add("edit") }
        let usage = try library.quotas.usage(of: nil)
        let permission = Permission(until: end)
        let item = try library.imports.beginEdit(asset.id, scope: .all)
        try item.append("edit")
        close(try item.finish())
        #expect(
            code {
                _ = try library.whilePermitted(permission.check) { () throws(CaptureError) in try item.commit(.photo) }
            } == .denied
        )
        #expect(permission.count == end)
        try expectUntouched(usage, contents: isThere ? 2 : 1)
        #expect(try library.text(asset.id) == "photo")
    }

    @Test func `is not changed by any call that is not permitted`() throws {
        let asset = try library.add("photo")
        let edit = try library.imports.beginEdit(asset.id, scope: .all)
        try edit.append("edit")
        _ = try edit.settle()
        let binned = try library.add("binned")
        try library.bin.delete([binned.id], scope: .all)
        let album = try library.albums.create("album", program: cheese, scope: .all).id
        let before = try everything()
        let calls: [() throws -> Void] = [
            { _ = try library.assets.change(asset.id, AssetChanges(name: "b"), scope: .all) },
            { _ = try library.assets.revert(asset.id, scope: .all) },
            { try library.bin.restore([binned.id], scope: .all) },
            { _ = try library.choices.choose("p", [asset.id]) },
            { try library.choices.unchoose("p", [asset.id]) },
            { try library.choices.forgetChosen("p") },
            { _ = try library.albums.create("other", program: cheese, scope: .all) },
            { try library.members.add([asset.id], toAlbum: album, scope: .all) },
            { _ = try library.recordings.begin(AssetDraft(), program: cheese) },
            { try library.bin.delete([asset.id], scope: .all) },
        ]
        for (index, call) in calls.enumerated() {
            let found = code { try library.permitted(Permission(until: 1), call) }
            #expect(found == .denied, "call \(index)")
        }
        #expect(try everything() == before)
        #expect(place.files("transit").isEmpty)
        for call in calls { #expect(throws: Never.self) { try library.permitted(Permission(until: 2), call) } }
    }

    @Test func `keeps a recording whose saving is not permitted`() throws {
        let transit = try library.recordings.begin(AssetDraft(), program: cheese)
        #expect(unsafe write(transit.descriptor, "x", 1) == 1)
        let permission = Permission(until: 2)
        #expect(
            code {
                _ = try library.whilePermitted(permission.check) { () throws(CaptureError) in
                    try library.recordings.finish(transit.id, .photo)
                }
            }
                == .denied
        )
        #expect(try library.recordings.kept().map(\.why) == ["not any more"])
        #expect(place.files("contents").isEmpty)
    }

    @Test func `is asked for on a thread as in a task, and for what is within alone`() throws {
        let (done, otherDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let results = Mutex<[CaptureError.Code?]>([])
        let thread = Thread { [self] in
            let permission = Permission(until: 1)
            let found = code {
                try library.whilePermitted(permission.check) { () throws(CaptureError) in
                    // Somebody else who writes meanwhile.
                    let other = Thread { [self] in
                        let found = code { try library.add("other") }
                        results.withLock { $0.append(found) }
                        otherDone.signal()
                    }
                    other.start()
                    otherDone.wait()
                    _ = try library.albums.create("album", program: cheese, scope: .all)
                }
            }
            results.withLock { $0.append(found) }
            let after = code { _ = try library.albums.create("album", program: cheese, scope: .all) }
            results.withLock { $0.append(after) }
            done.signal()
        }
        thread.start()
        done.wait()
        #expect(results.withLock { $0 } == [nil, .denied, nil])
    }

    @Test func `is asked for by all that are around a change`() throws {
        let (outer, inner) = (Permission(until: 2), Permission(until: 3))
        try library.whilePermitted(outer.check) { () throws(CaptureError) in
            try library.whilePermitted(inner.check) { () throws(CaptureError) in
                _ = try library.albums.create("one", program: cheese, scope: .all)
            }
        }
        #expect(outer.count == 1)
        #expect(inner.count == 1)
        let found = code {
            try library.whilePermitted(outer.check) { () throws(CaptureError) in
                try library.whilePermitted(inner.check) { () throws(CaptureError) in
                    _ = try library.albums.create("two", program: cheese, scope: .all)
                }
            }
        }
        #expect(found == .denied)
    }

    private func item(_ text: String) throws -> LibraryImport {
        let item = try library.imports.begin(AssetDraft(name: "a.jpg"), program: cheese)
        try item.append(text)
        close(try item.finish())
        return item
    }

    private func expectUntouched(_ usage: LibraryUsage, contents: Int) throws {
        #expect(try library.quotas.usage(of: nil) == usage)
        #expect(place.files("contents").count == contents)
        #expect(place.files("transit").isEmpty)
        #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM doubtful") } == 0)
        #expect(try library.check() == [])
    }

    private func everything() throws -> [[Row]] {
        try library.index.read { database in
            try ["asset", "content", "album", "listed", "transit", "doubtful", "usage", "house"].map { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table)")
            }
        }
    }
}

/// A permission that goes with one of the questions for it.
private final class Permission: Sendable {
    private let asked = Atomic<Int>(0)
    private let end: Int

    /// - Parameter end: Which question is the first that is answered with no; 1 for the first.
    init(until end: Int) { self.end = end }

    var count: Int { asked.load(ordering: .relaxed) }

    @Sendable func check() throws(CaptureError) {
        guard asked.add(1, ordering: .relaxed).newValue < end else { throw CaptureError(.denied, "not any more") }
    }
}

extension LibraryStore {
    /// Does something while that is permitted.
    fileprivate func permitted(_ permission: Permission, _ body: () throws -> Void) throws(CaptureError) {
        try whilePermitted(permission.check) { () throws(CaptureError) in
            do {
                try body()
            } catch {
                throw error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
            }
        }
    }
}
