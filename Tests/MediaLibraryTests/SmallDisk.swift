import Foundation

/// A file system of a few kilobytes in memory; only root can have one.
final class SmallDisk: Sendable {
    let path: String

    static let isPossible: Bool = (try? SmallDisk(kilobytes: 64)) != nil

    init(kilobytes: Int) throws {
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

    /// Fills it to the last byte.
    func fill() throws -> String {
        let filler = path + "/filler"
        let file = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        while unsafe write(file, block, block.count) > 0 {}
        return filler
    }

    func makeReadOnly() throws {
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
