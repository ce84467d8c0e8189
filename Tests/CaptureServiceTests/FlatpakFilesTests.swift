import Authorization
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

@Suite struct `A Flatpak's file` {
    private let folder: URL
    private let files = FlatpakFiles(root: SystemRoot(ofProcessOne: false))
    private let started: UInt64

    init() throws {
        // Its whole path: no link may be on the way to it.
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        folder = place.appendingPathComponent("flatpak-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("share"),
            withIntermediateDirectories: true
        )
        let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
        started = try #require(UInt64(stat.components(separatedBy: ") ")[1].split(separator: " ")[19]))
    }

    private func client(_ folder: String, user: UInt32 = geteuid(), started: UInt64? = nil) -> ClientIdentity {
        ClientIdentity(
            program: "flatpak:org.a.B",
            tier: .sandboxed,
            user: user,
            name: "org.a.B",
            detail: "a test",
            pid: getpid(),
            parts: IdentityParts(sandboxFolder: folder, startTime: started ?? self.started)
        )
    }

    private func write(_ text: String, mode: Int = 0o644) throws {
        let file = folder.appendingPathComponent("share/x").path
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    @Test func `lies in the folder that Flatpak mounts`() throws {
        #expect(files.read("share/x", of: client(folder.path)) == .absent)
        try write("text")
        let place = folder.path + "/share/x"
        #expect(files.read("share/x", of: client(folder.path)) == .text("text", place: place))
        #expect(files.read("share/x", of: client("")) == .absent)
    }

    @Test(.enabled(if: geteuid() == 0)) func `is believed when its user or root alone can have written it`() throws {
        try write("text", mode: 0o666)
        #expect(
            files.read("share/x", of: client(folder.path))
                == .unusable("(\(folder.path)/share/x) can be written by others than its owner")
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644, .ownerAccountID: 4711],
            ofItemAtPath: folder.path + "/share/x"
        )
        guard case .unusable(let why) = files.read("share/x", of: client(folder.path)) else {
            Issue.record("a stranger's file was read")
            return
        }
        #expect(why.contains("uid 4711"))
    }

    @Test func `is not reached by links`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link",
            withDestinationPath: folder.path + "/share"
        )
        try write("text")
        guard case .unusable = files.read("x", of: client(folder.path + "/link")) else {
            Issue.record("a link was followed")
            return
        }
    }

    @Test func `is nobody's when the process is another one by now`() throws {
        try write("text")
        guard case .unusable(let why) = files.read("share/x", of: client(folder.path, started: started + 1)) else {
            Issue.record("another process's file was read")
            return
        }
        #expect(why.contains("ended meanwhile"))
    }
}
