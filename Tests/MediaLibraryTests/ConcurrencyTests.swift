@testable import MediaLibrary
import CaptureCore
import Dispatch
import GRDB
import Glibc
import Synchronization
import Testing

@Suite struct `Many who work in a library at a time` {
    let place: TemporaryLibrary
    let library: LibraryStore

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    /// Five contents among all of them, so that files come and go under others' hands.
    @Test func `leave files and index in agreement`() throws {
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { worker in
            do {
                for round in 0..<25 {
                    let asset = try library.add("content \((round + worker) % 5)", program: "p\(worker)")
                    let item = try library.imports.beginEdit(asset.id, scope: .all)
                    try item.append("content \((round * 3 + worker) % 5)")
                    _ = try item.settle()
                    if round.isMultiple(of: 3) { _ = try library.assets.revert(asset.id, scope: .all) }
                    let text = try library.text(asset.id)
                    if !text.hasPrefix("content ") { throw CaptureError(.badData, "another text: \(text)") }
                    try library.bin.delete([asset.id], scope: .all)
                    if round.isMultiple(of: 2) { try library.bin.empty(olderThan: 0) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try library.check() == [])
        try library.bin.empty(olderThan: 0)
        #expect(place.files("contents").isEmpty)
        #expect(place.files("transit").isEmpty)
        #expect(try library.quotas.usage(of: nil) == LibraryUsage())
        #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM doubtful") } == 0)
    }

    @Test func `save a recording once`() throws {
        let transit = try library.recordings.begin(AssetDraft(name: "clip.mkv"), program: "p")
        #expect(unsafe write(transit.descriptor, "x", 1) == 1)
        let saved = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            if (try? library.recordings.finish(transit.id, .photo)) != nil { saved.add(1, ordering: .relaxed) }
        }
        #expect(saved.load(ordering: .relaxed) == 1)
        #expect(try library.quotas.usage(of: "p").assets == 1)
        #expect(try library.recordings.kept().isEmpty)
        #expect(try library.check() == [])
    }
}
