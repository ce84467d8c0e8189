import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// What a file below a folder came to, that somebody else can have arranged.
enum ForeignFile: Hashable, Sendable {
    /// There is none.
    case absent
    /// A regular file.
    case file(Contents)
    /// It is there and cannot be used, or it cannot be told; why, in words.
    case unusable(String)

    /// A file's text and what speaks for who wrote it.
    struct Contents: Hashable, Sendable {
        /// Its text; bytes that are not UTF-8 are replaced.
        var text: String
        /// Its owner (`st_uid`).
        var owner: UInt32
        /// Whether others than its owner can write to it.
        var isOpenToOthers: Bool
        /// Whether it lies on a tmpfs.
        var isInMemory: Bool
    }
}

/// The root of the file system as one process sees it: `/proc/PID/root`, held open.
///
/// Thread-safe. Whoever made that root may have put anything there, so files are looked at before they are opened for
/// reading, and no link leads out of it.
struct ProgramRoot: Sendable {
    private let folder: Descriptor
    /// Whether it is the root that this process has, too.
    let isShared: Bool

    /// The root of a process that is pinned by the caller, who makes sure afterwards that it still lives.
    ///
    /// - Throws: The system's error, named by `errno`.
    init(of pid: Int32) throws(SystemError) {
        try self.init(folder: "/proc/\(pid)/root")
    }

    /// A folder that stands for a root.
    init(folder path: String) throws(SystemError) {
        folder = Descriptor(
            owning: try SystemError.check("open \(path)") { unsafe clinux_look_at_folder(path) }
        )
        var there = stat()
        var here = stat()
        let areKnown = unsafe fstat(folder.descriptor, &there) == 0 && stat("/", &here) == 0
        // What cannot be told is no sandbox.
        isShared = !areKnown || (there.st_dev == here.st_dev && there.st_ino == here.st_ino)
    }

    /// Reads a regular file.
    ///
    /// - Parameters:
    ///   - path: Below the root; links in it are followed, and stay below the root.
    ///   - followsLinks: False where there must not be any.
    ///   - limit: The most bytes.
    func read(_ path: String, followsLinks: Bool = true, limit: Int) -> ForeignFile {
        let look: Descriptor
        do throws(SystemError) {
            look = Descriptor(
                owning: try SystemError.check("open") {
                    unsafe clinux_look_below(folder.descriptor, path, followsLinks ? 1 : 0)
                }
            )
        } catch {
            return error.errno == ENOENT || error.errno == ENOTDIR
                ? .absent : .unusable("cannot be opened (\(SystemError.text(of: error.errno)))")
        }
        // Not opened for reading before it is known to be a file: a device would start, a pipe would wait.
        var status = stat()
        guard unsafe fstat(look.descriptor, &status) == 0 else {
            return .unusable("cannot be examined (\(SystemError.text(of: errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return .unusable("is not a regular file") }
        do throws(SystemError) {
            let file = try Descriptor.open("/proc/self/fd/\(look.descriptor)", O_RDONLY)
            guard let bytes = try file.readAll(limit: limit) else {
                return .unusable("is larger than \(limit) bytes")
            }
            return .file(
                ForeignFile.Contents(
                    text: String(decoding: bytes, as: UTF8.self),
                    owner: status.st_uid,
                    isOpenToOthers: status.st_mode & 0o022 != 0,
                    isInMemory: clinux_is_in_memory(look.descriptor) == 1
                )
            )
        } catch {
            return .unusable("cannot be read (\(SystemError.text(of: error.errno)))")
        }
    }
}

extension ProgramRoot {
    /// Looks at the root of a process that was identified before.
    ///
    /// - Parameters:
    ///   - pid: The process.
    ///   - startTime: When it started, in clock ticks since boot, so that another one of the same number is not meant.
    ///   - look: What to do with it.
    /// - Throws: `.notPermitted` when that process is gone or its root cannot be opened.
    static func visit<T: Sendable>(
        _ pid: Int32,
        startedAt startTime: UInt64,
        _ look: (ProgramRoot) -> T
    ) throws(CaptureError) -> T {
        let process = ProcessLook(pid: pid, process: try ProcessLook.pin(pid))
        let found = look(try process.root())
        // Still the one that was pinned: so it was while its root was opened and read.
        guard try process.status().startTime == startTime, process.isAlive else {
            throw ProcessLook.refusal("its process ended meanwhile")
        }
        return found
    }
}
