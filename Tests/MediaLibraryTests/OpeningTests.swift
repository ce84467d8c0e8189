@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

@Suite struct `Opening a library` {
    let place: TemporaryLibrary

    init() throws { place = try TemporaryLibrary() }

    @Test func `makes it for its owner alone, with an index that synchronizes fully`() throws {
        let library = try place.library()
        #expect(try library.index.pragma("synchronous") == "2")
        #expect(try library.index.pragma("journal_mode") == "wal")
        try library.add("one")
        #expect(try library.index.pragma("synchronous") == "2")
        for file in ["", "/index.sqlite", "/index.sqlite-wal", "/contents", "/transit", "/thumbnails"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path + file)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(file) has mode \(String(mode, radix: 8))")
        }
    }

    @Test func `finds what was kept, after it was closed`() throws {
        let asset = try place.library().add("one")
        place.close()
        #expect(try place.library().text(asset.id) == "one")
    }

    @Test(.timeLimit(.minutes(10))) func `refuses one that is open already`() throws {
        let library = try place.library()
        #expect(code { _ = try LibraryStore(directory: place.path) } == .busy)
        withExtendedLifetime(library) {}
    }

    @Test func `refuses a folder or index that others can reach, and one that is a link`() throws {
        _ = try place.library()
        place.close()
        try mode(0o755, of: "")
        expectRefusal("can be reached by others")
        try mode(0o700, of: "")
        try mode(0o644, of: "/index.sqlite")
        expectRefusal("can be reached by others")
        try mode(0o600, of: "/index.sqlite")
        let elsewhere = place.folder + "/elsewhere"
        try FileManager.default.moveItem(atPath: place.path, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: elsewhere)
        expectRefusal("cannot be opened")
    }

    @Test func `refuses an index that is damaged, somebody else's or newer, and says so`() throws {
        let index = place.path + "/index.sqlite"
        try place.library().index.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        place.close()
        expectRefusal("has version 99")
        try Data("not a database, but long enough to be looked at".utf8).write(to: URL(fileURLWithPath: index))
        try mode(0o600, of: "/index.sqlite")
        for beside in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index + beside) }
        expectRefusal("is damaged", errno: EUCLEAN)
        try FileManager.default.removeItem(atPath: index)
        #expect(throws: Never.self) { try place.library() }
    }

    private func mode(_ mode: Int, of file: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.path + file)
    }

    private func expectRefusal(_ words: String, errno: Int32? = nil) {
        do {
            _ = try place.library()
            place.close()
            Issue.record("it was opened")
        } catch let error as CaptureError {
            #expect(error.code == .inputOutput)
            #expect(error.message.contains(words), "\(error.message)")
            if let errno { #expect(error.errno == errno) }
        } catch {
            Issue.record(error)
        }
    }
}
