import BusSupport
import CaptureSystem
import Foundation
import Testing

@testable import CaptureKit

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

    @Test(arguments: [true, false])
    func `a file with the longest of names is replaced`(isNameless: Bool) throws {
        let folder = try Folder()
        let name = String(repeating: "n", count: 251) + ".mkv"
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        let file = try OutputFile(creating: folder.path + "/" + name, overwrite: true, nameless: isNameless)
        unsafe write(file.descriptor.descriptor, "new", 3)
        try file.keep()
        #expect(folder.names == [name])
        #expect(folder.text(name) == "new")
    }

    @Test(arguments: [true, false])
    func `a file that is replaced passes on its mode, owner and access list`(isNameless: Bool) throws {
        let folder = try Folder()
        let path = folder.path + "/out.mkv"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        unsafe chmod(path, 0o640)
        if geteuid() == 0 { unsafe chown(path, 1, 2) }
        // What setfacl makes of u:3:r: tag, permissions and id of each entry.
        let list = """
            import os, struct
            entries = [(1, 6, -1), (2, 4, 3), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
            data = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
            os.setxattr("\(path)", "system.posix_acl_access", data)
            """
        let setting = Process()
        setting.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        setting.arguments = ["-c", list]
        try setting.run()
        setting.waitUntilExit()
        func facts() throws -> [String] {
            var status = stat()
            unsafe stat(path, &status)
            let list = AccessList(of: path).map { "\($0.users)" } ?? "none"
            return [String(status.st_mode, radix: 8), "\(status.st_uid)", "\(status.st_gid)", list]
        }
        let before = try facts()
        let file = try OutputFile(creating: path, overwrite: true, nameless: isNameless)
        unsafe write(file.descriptor.descriptor, "new", 3)
        try file.keep()
        #expect(folder.text("out.mkv") == "new")
        #expect(try facts() == before)
    }

    @Test func `a file that is being recorded is not replaced`() throws {
        let folder = try Folder()
        let path = folder.path + "/out.mkv"
        let recorded = try OutputFile(creating: path)
        try recorded.keep()
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        // F_OFD_SETLK, as a recorder has it.
        #expect(unsafe fcntl(recorded.descriptor.descriptor, 37, &lock) == 0)
        let error = #expect(throws: CaptureError.self) { try OutputFile(creating: path, overwrite: true) }
        #expect(error?.code.exitCode == 75)
        lock.l_type = Int16(F_UNLCK)
        #expect(unsafe fcntl(recorded.descriptor.descriptor, 37, &lock) == 0)
        let file = try OutputFile(creating: path, overwrite: true)
        lock.l_type = Int16(F_WRLCK)
        #expect(unsafe fcntl(recorded.descriptor.descriptor, 37, &lock) == 0)
        #expect(throws: CaptureError.self) { try file.keep() }
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
        #expect(code { try OutputFile(creating: path) } == .inputOutput)
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
        #expect(code { try file.keep() } == .inputOutput)
        #expect(folder.text("out.mkv") == "other")
    }

    @Test(arguments: [true, false])
    func `what a link leads to is replaced in its own folder, and the link stays`(isNameless: Bool) throws {
        let (folder, far) = (try Folder(), try Folder())
        try Data("old".utf8).write(to: URL(fileURLWithPath: far.path + "/real.mkv"))
        unsafe symlink(far.path + "/real.mkv", folder.path + "/first")
        unsafe symlink("first", folder.path + "/out.mkv")
        let path = folder.path + "/out.mkv"
        let refusal = #expect(throws: CaptureError.self) { try OutputFile(creating: path) }
        #expect(refusal?.message.contains("exists") == true)
        let file = try OutputFile(creating: path, overwrite: true, nameless: isNameless)
        unsafe write(file.descriptor.descriptor, "new", 3)
        #expect(far.text("real.mkv") == "old")
        #expect(folder.names == ["first", "out.mkv"])
        try file.keep()
        #expect(far.text("real.mkv") == "new")
        #expect(far.names == ["real.mkv"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "first")
    }

    @Test(arguments: [true, false]) func `a link to nothing is told as one, and left alone`(overwrite: Bool) throws {
        let folder = try Folder()
        let path = folder.path + "/out.mkv"
        unsafe symlink("gone.mkv", path)
        let error = #expect(throws: CaptureError.self) { try OutputFile(creating: path, overwrite: overwrite) }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("is a symbolic link to gone.mkv, which is not there") == true)
        unsafe symlink("loop", folder.path + "/loop")
        let loop = #expect(throws: CaptureError.self) {
            try OutputFile(creating: folder.path + "/loop", overwrite: overwrite)
        }
        #expect(loop?.message.contains("cannot be followed") == true)
        #expect(folder.names == ["loop", "out.mkv"])
    }

    /// Whether the kernel refuses other users' links in folders such as /tmp, and a test can make one.
    private static var areLinksProtected: Bool {
        let setting = FileManager.default.contents(atPath: "/proc/sys/fs/protected_symlinks") ?? Data()
        return geteuid() == 0 && setting.first == UInt8(ascii: "1")
    }

    @Test(.enabled(if: areLinksProtected))
    func `another user's link in a folder that everyone writes to is not followed`() throws {
        let (folder, far) = (try Folder(), try Folder())
        try Data("old".utf8).write(to: URL(fileURLWithPath: far.path + "/real.mkv"))
        let path = folder.path + "/out.mkv"
        unsafe chmod(folder.path, 0o1777)
        unsafe symlink(far.path + "/real.mkv", path)
        unsafe lchown(path, 65534, 65534)
        let error = #expect(throws: CaptureError.self) { try OutputFile(creating: path, overwrite: true) }
        #expect(error?.message.contains("cannot be followed: Permission denied") == true)
        #expect(far.text("real.mkv") == "old")
    }

    @Test func `a device is written to as it is`() throws {
        let file = try OutputFile(creating: "/dev/null")
        try file.keep()
        #expect(unsafe write(file.descriptor.descriptor, "x", 1) == 1)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a pipe that nobody reads is waited for, and its writer waits for it then`() async throws {
        let folder = try Folder()
        let path = folder.path + "/pipe"
        unsafe mkfifo(path, 0o600)
        var reader: Int32 = -1
        var waits = 0
        let file = try await OutputFile.open(path) {
            waits += 1
            if waits == 2 { reader = unsafe open(path, O_RDONLY | O_NONBLOCK) }
        }
        defer { close(reader) }
        #expect(waits == 2)
        #expect(fcntl(file.descriptor.descriptor, F_GETFL) & O_NONBLOCK == 0)
        #expect(unsafe write(file.descriptor.descriptor, "x", 1) == 1)
        try file.keep()
        #expect(folder.names == ["pipe"])
    }

    @Test(.timeLimit(.minutes(10)))
    func `the wait for a pipe's reader ends when it is told to, or cancelled`() async throws {
        let folder = try Folder()
        let path = folder.path + "/pipe"
        unsafe mkfifo(path, 0o600)
        let told = await #expect(throws: CaptureError.self) {
            _ = try await OutputFile.open(path) { () throws(CaptureError) in throw CaptureError(.dismissed, "enough") }
        }
        #expect(told?.message == "enough")
        let task = Task { _ = try await OutputFile.open(path) }
        task.cancel()
        #expect(await code { try await task.value } == .dismissed)
    }

    @Test func `folders and missing folders are refused`() throws {
        let folder = try Folder()
        for path in [folder.path, folder.path + "/no/out.mkv"] {
            #expect(code { try OutputFile(creating: path) } == .inputOutput)
        }
    }

    @Test func `an empty name is a slip of the command`() {
        #expect(code { try OutputFile(creating: "") } == .usage)
    }

    @Test(arguments: [true, false])
    func `a kept file that was deleted or replaced is lost, a moved one is not`(isNameless: Bool) throws {
        let folder = try Folder()
        let paths = ["deleted", "replaced", "moved"].map { "\(folder.path)/\($0)" }
        let files = try paths.map { try OutputFile(creating: $0, overwrite: false, nameless: isNameless) }
        for file in files {
            #expect(!file.isKept && !file.isLost)
            try file.keep()
            #expect(file.isKept && !file.isLost)
        }
        unsafe unlink(paths[0])
        try Data("other".utf8).write(to: URL(fileURLWithPath: folder.path + "/other"))
        unsafe rename(folder.path + "/other", paths[1])
        unsafe rename(paths[2], paths[2] + "-elsewhere")
        #expect(files.map(\.isLost) == [true, true, false])
    }

    @Test func `where a file cannot be nameless, one that is not kept is taken away`() throws {
        let folder = try Folder()
        do { _ = try OutputFile(creating: folder.path + "/out.mkv", overwrite: false, nameless: false) }
        #expect(folder.names.isEmpty)
    }
}
