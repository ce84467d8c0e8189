import Foundation

/// A file system of a few kilobytes in memory; only root can have one.
public final class SmallDisk: Sendable {
    /// Where it is mounted.
    public let path: String

    /// Whether this process may have one.
    public static let isPossible: Bool = (try? SmallDisk(kilobytes: 64)) != nil

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

    /// Fills it to the last byte, with one file.
    ///
    /// - Returns: That file.
    public func fill() throws -> String {
        let filler = path + "/filler"
        let file = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        let end = Date(timeIntervalSinceNow: 60)
        repeat {
            guard Date() < end else { throw POSIXError(.EBUSY) }
            while unsafe write(file, block, block.count) > 0 {}
            // A process that is being started at this moment holds what was open here, deleted files among it, whose room
            // is free once it has become another program.
        } while try !isFullOfFiles()
        return filler
    }

    /// Whether all of its room belongs to files that are there, or are open in this process.
    private func isFullOfFiles() throws -> Bool {
        var facts = statvfs()
        var root = stat()
        guard unsafe statvfs(path, &facts) == 0, unsafe stat(path, &root) == 0 else { throw POSIXError(.EIO) }
        var sectors: [ino_t: Int] = [:]
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { "/proc/self/fd/" + $0 }
        for name in files + open {
            var file = stat()
            // What goes meanwhile has its room counted by the next look.
            guard unsafe stat(name, &file) == 0, file.st_dev == root.st_dev else { continue }
            sectors[file.st_ino] = Int(file.st_blocks)
        }
        return sectors.values.reduce(0, +) * 512 >= Int(facts.f_blocks) * Int(facts.f_frsize)
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
