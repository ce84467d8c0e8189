@testable import MediaLibrary
import CaptureCore
import Foundation
import Synchronization
import Testing

/// A clock that goes when it is told to.
private final class HeldClock: Sendable {
    let milliseconds = Mutex<Int64>(1_700_000_000_000)
}

/// A library in a folder that goes with the test.
final class TemporaryLibrary: Sendable {
    /// The folder of all libraries.
    let folder: String
    private let clock = HeldClock()
    private let open = Mutex<LibraryStore?>(nil)

    init(in folder: String? = nil) throws {
        let place = folder.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        self.folder = place.appendingPathComponent("library-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: self.folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A new one, and its library.
    static func opened() throws -> (TemporaryLibrary, LibraryStore) {
        let place = try TemporaryLibrary()
        return (place, try place.library())
    }

    /// The library's own folder.
    var path: String { folder + "/1000" }

    /// Opens it, or gives the one that is open.
    func library(_ limits: LibraryLimits = LibraryLimits()) throws -> LibraryStore {
        try open.withLock { open in
            if let library = open { return library }
            // The clock alone: a library that had its folder would keep it, and be kept by it.
            let library = try LibraryStore(directory: path, limits: limits) { [clock] in
                clock.milliseconds.withLock { $0 }
            }
            open = library
            return library
        }
    }

    /// Closes it, provided that the test holds it no more.
    func close() {
        open.withLock { $0 = nil }
    }

    /// The time of its clock, in milliseconds since 1970.
    var now: Int64 { clock.milliseconds.withLock { $0 } }

    func pass(days: Int64) {
        clock.milliseconds.withLock { $0 += days * 24 * 60 * 60 * 1000 }
    }

    /// The names of files below one of the library's folders, hidden ones included.
    func files(_ part: String) -> [String] {
        let found = FileManager.default.enumerator(atPath: path + "/" + part)?.allObjects.compactMap { $0 as? String }
        return (found ?? []).filter { name in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: "\(path)/\(part)/\(name)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }
}

extension ExaminedMedia {
    static let photo = ExaminedMedia(kind: .photo, mediaType: "image/jpeg", codec: "mjpeg", width: 640, height: 480)
    static let sound = ExaminedMedia(kind: .sound, mediaType: "audio/flac", codec: "flac", duration: 2_000_000_000)
}

extension LibraryImport {
    func append(_ bytes: [UInt8]) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe append($0) }
    }

    func append(_ text: String) throws { try append(Array(text.utf8)) }

    /// Ends and commits it.
    func settle(_ facts: ExaminedMedia = .photo, written: Int64? = nil) throws -> MediaAsset {
        close(try finish())
        return try commit(facts, written: written)
    }
}

extension LibraryImports {
    /// Begins an edit by the program that makes the assets of most tests.
    func beginEdit(_ id: String, scope: LibraryScope) throws -> LibraryImport {
        try beginEdit(id, scope: scope, program: "exe:/usr/bin/cheese")
    }
}

extension LibraryStore {
    /// Adds an asset of these bytes.
    @discardableResult
    func add(
        _ text: String,
        _ name: String = "a.jpg",
        program: String = "exe:/usr/bin/cheese",
        facts: ExaminedMedia = .photo,
        written: Int64? = nil
    ) throws -> MediaAsset {
        let item = try imports.begin(AssetDraft(name: name), program: program)
        try item.append(text)
        return try item.settle(facts, written: written)
    }

    /// What is in an asset's file.
    func text(_ id: String, _ version: AssetVersion = .current, scope: LibraryScope = .all) throws -> String {
        MediaLibraryTests.text(of: try contents.open(id, version: version, scope: scope))
    }
}

/// Everything in an open file, which is closed.
func text(of descriptor: Int32) -> String {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
}

/// The code of the error that the body throws; `nil` when it does not.
func code(_ body: () throws -> Void) -> CaptureError.Code? {
    do {
        try body()
        return nil
    } catch let error as CaptureError {
        return error.code
    } catch {
        Issue.record(error)
        return nil
    }
}
