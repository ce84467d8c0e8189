import CaptureKit
import Foundation
import Testing

/// A folder of the test's own.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "capturekit-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path + "/" + name) ?? Data(), as: UTF8.self)
    }
}

struct OutputFileTests {
    @Test func `a file has no name until it is kept`() throws {
        let folder = try Folder()
        let file = try OutputFile(creating: folder.path + "/out.mkv")
        #expect(folder.names.isEmpty)
        unsafe write(file.descriptor.descriptor, "new", 3)
        try file.keep()
        #expect(folder.names == ["out.mkv"])
        #expect(folder.text("out.mkv") == "new")
    }

    @Test func `a file that is not kept leaves nothing`() throws {
        let folder = try Folder()
        do {
            let file = try OutputFile(creating: folder.path + "/out.mkv")
            unsafe write(file.descriptor.descriptor, "new", 3)
        }
        #expect(folder.names.isEmpty)
    }

    @Test func `a file that is there is refused, and stays as it is until its replacement is kept`() throws {
        let folder = try Folder()
        let path = folder.path + "/out.mkv"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: CaptureError.self) { try OutputFile(creating: path) }
        #expect(error?.code == .inputOutput)
        do {
            _ = try OutputFile(creating: path, overwrite: true)
        }
        #expect(folder.text("out.mkv") == "old")
        let file = try OutputFile(creating: path, overwrite: true)
        unsafe write(file.descriptor.descriptor, "new", 3)
        #expect(folder.text("out.mkv") == "old")
        try file.keep()
        #expect(folder.text("out.mkv") == "new")
        #expect(folder.names == ["out.mkv"])
    }

    @Test func `a name that is taken meanwhile is not taken over`() throws {
        let folder = try Folder()
        let path = folder.path + "/out.mkv"
        let file = try OutputFile(creating: path)
        try Data("other".utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: CaptureError.self) { try file.keep() }
        #expect(error?.code == .inputOutput)
        #expect(folder.text("out.mkv") == "other")
    }

    @Test func `a device is written to as it is`() throws {
        let file = try OutputFile(creating: "/dev/null")
        try file.keep()
        #expect(unsafe write(file.descriptor.descriptor, "x", 1) == 1)
    }

    @Test func `folders and missing folders are refused`() throws {
        let folder = try Folder()
        for path in [folder.path, folder.path + "/no/out.mkv", ""] {
            let error = #expect(throws: CaptureError.self) { try OutputFile(creating: path) }
            #expect(error?.code == .inputOutput)
        }
    }
}
