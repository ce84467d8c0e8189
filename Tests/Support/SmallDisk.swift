import Foundation

/// A file system of a few kilobytes in memory; only root can have one.
public final class SmallDisk: Sendable {
    /// Where it is mounted.
    public let path: String

    /// Whether this process may have one. If root cannot mount it, the test fails.
    public static let isPossible: Bool = geteuid() == 0

    /// Mounts an empty one.
    public init(kilobytes: Int) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        do {
            try SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=0700", "tmpfs", path)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    deinit {
        try? SmallDisk.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    private var filler: String { path + "/filler" }

    /// Fills it to the last byte.
    public func fill() throws {
        try settle()
        let file = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        while unsafe write(file, block, block.count) > 0 {}
    }

    /// Takes away what filled it.
    public func makeRoom() throws {
        try FileManager.default.removeItem(atPath: filler)
        try settle()
    }

    /// Waits until the room of what was deleted is free.
    ///
    /// A process that is being started has open what was open here, until it has become another program.
    public func settle() throws {
        let end = Date(timeIntervalSinceNow: 60)
        while try !isSettled() {
            guard Date() < end else { throw HeldRoom(path: path) }
            usleep(1000)
        }
    }

    /// Whether all that is used belongs to files that are there, or are open in this process.
    private func isSettled() throws -> Bool {
        var facts = statvfs()
        var root = stat()
        guard unsafe statvfs(path, &facts) == 0, unsafe stat(path, &root) == 0 else { throw POSIXError(.EIO) }
        var sectors: [ino_t: Int] = [:]
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { "/proc/self/fd/" + $0 }
        for name in files + open {
            var file = stat()
            guard unsafe stat(name, &file) == 0, file.st_dev == root.st_dev else { continue }
            sectors[file.st_ino] = Int(file.st_blocks)
        }
        return sectors.values.reduce(0, +) * 512 == Int(facts.f_blocks - facts.f_bfree) * Int(facts.f_frsize)
    }

    /// Lets nothing more be written.
    public func makeReadOnly() throws {
        try SmallDisk.run("mount", "-o", "remount,ro", path)
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw POSIXError(.EPERM) }
    }
}

/// Room of a small disk that belongs to no file in sight, for a minute.
private struct HeldRoom: Error {
    var path: String
}
