@testable import MediaLibrary
import CaptureCore
import Foundation
import Testing

/// Contents go by their text here.
extension TemporaryLibrary {
    func hash(_ text: String) throws -> String {
        let hash = try SHA256()
        try unsafe Array(text.utf8).withUnsafeBytes { try unsafe hash.update($0) }
        return try hash.finish()
    }

    func file(_ text: String) throws -> String { FoundFault.path(of: try hash(text)) }

    /// Removes a content's file.
    func remove(_ text: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + file(text))
    }

    /// Makes a content's file another one.
    func damage(_ text: String, _ other: String) throws {
        let file = path + "/" + (try file(text))
        #expect(unsafe chmod(file, 0o600) == 0)
        try Data(other.utf8).write(to: URL(fileURLWithPath: file))
    }

    /// Puts a file among the contents that the index does not have.
    func stray(_ text: String) throws {
        let file = path + "/" + (try file(text))
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: file, contents: Data(text.utf8)))
    }
}

extension LibraryStore {
    /// Edits an asset.
    func edit(_ asset: MediaAsset, _ text: String) throws {
        let item = try imports.beginEdit(asset.id, scope: .all)
        try item.append(text)
        _ = try item.settle()
    }
}
