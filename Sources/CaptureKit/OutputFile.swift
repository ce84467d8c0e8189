import CaptureCore
import CaptureSystem
import Glibc

/// A file that a client opens for an output to be written by someone else.
///
/// It has no name until `keep()`. A run that is refused, or killed while its user is being asked, therefore leaves
/// nothing behind and does not touch the file that it was to replace. For a symbolic link, it replaces the file that
/// the link points to, in that file's own folder; the link stays. If the file system cannot make a nameless file, the
/// name exists from the start, and `deinit` removes it.
///
/// Thread-bound in `keep` and `discard`; the descriptor may be used from anywhere.
public final class OutputFile {
    /// The path as it was given.
    public private(set) var path: String
    /// The open file, to be handed to an output.
    public let descriptor: Descriptor

    /// Where the file is in the end: what a link leads to, else the path.
    private(set) var place: String

    private enum Name {
        /// Not there yet; whether one that is there may be replaced.
        case pending(replaces: Bool)
        /// There already, and ours to remove.
        case provisional(at: String, replaces: Bool)
        /// There, and not ours to remove.
        case kept
    }
    private var name: Name

    /// Opens a file for writing, or a device, pipe or socket that is there already.
    ///
    /// Blocks while a named pipe has no reader; `open(_:overwrite:waiting:)` does not.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - overwrite: Whether an existing file may be replaced; it stays as it is until `keep()`.
    /// - Throws: `CaptureError.Code.usage` for an empty path. `CaptureError.Code.inputOutput` if the file exists and
    ///   `overwrite` is false, if it is a folder or a link to a missing file, or if the system refuses.
    public convenience init(creating path: String, overwrite: Bool = false) throws(CaptureError) {
        try self.init(creating: path, overwrite: overwrite, nameless: true)
    }

    /// - Parameter nameless: False for a file system that makes no nameless files.
    init(creating path: String, overwrite: Bool, nameless isNameless: Bool) throws(CaptureError) {
        self.path = path
        guard !path.isEmpty else { throw CaptureError(.usage, "the file's name is empty") }
        if let kind = OutputFile.kind(of: path) {
            if kind == S_IFDIR { throw CaptureError(.inputOutput, "\(Printable.text(path)) is a folder") }
            if kind != S_IFREG {
                descriptor = try OutputFile.open(path, O_WRONLY)
                place = path
                name = .kept
                return
            }
            if !overwrite {
                throw CaptureError(
                    .inputOutput,
                    "\(Printable.text(path)) exists; choose another name, or give --overwrite to replace it"
                )
            }
        } else {
            try OutputFile.checkNoBrokenLink(path)
            try OutputFile.checkName(path)
        }
        let place = overwrite ? try OutputFile.place(of: path) : path
        self.place = place
        try OutputFile.checkNotRecorded(path, place)
        let folder = OutputFile.folder(of: place)
        // O_TMPFILE is a macro that does not import: O_DIRECTORY and this bit, on x86-64, ARM and RISC-V alike.
        let nameless = O_DIRECTORY | 0o20_000_000
        do throws(SystemError) {
            guard isNameless else { throw SystemError("open \(folder)", errno: EOPNOTSUPP) }
            descriptor = try Descriptor.open(folder, O_RDWR | nameless, mode: 0o666)
            name = .pending(replaces: overwrite)
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.errno) else {
                throw OutputFile.failure(path, "cannot be made", error.errno)
            }
            let provisional = overwrite ? OutputFile.temporaryName(beside: place) : place
            descriptor = try OutputFile.open(provisional, O_RDWR | O_CREAT | O_EXCL)
            name = .provisional(at: provisional, replaces: overwrite)
        }
    }

    /// - Parameter opened: The device, pipe or socket that is at the path.
    init(_ path: String, opened: Descriptor) {
        self.path = path
        place = path
        descriptor = opened
        name = .kept
    }

    deinit {
        discard()
    }

    /// Gives the file its name. From here on, the file exists under its name, and stays.
    ///
    /// - Throws: `CaptureError.Code.inputOutput` if another file took the name meanwhile.
    public func keep() throws(CaptureError) {
        switch name {
        case .kept: return
        case .pending(let replaces):
            let own = "/proc/self/fd/\(descriptor.descriptor)"
            if unsafe linkat(AT_FDCWD, own, AT_FDCWD, place, AT_SYMLINK_FOLLOW) == 0 {
                name = .kept
                return
            }
            guard replaces, errno == EEXIST else {
                throw OutputFile.failure(path, "cannot be named", errno)
            }
            let temporary = OutputFile.temporaryName(beside: place)
            try OutputFile.checkNotRecorded(path, place)
            try adopt()
            try check { unsafe linkat(AT_FDCWD, own, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) }
            name = .provisional(at: temporary, replaces: true)
            try check { unsafe rename(temporary, place) }
            name = .kept
        case .provisional(let temporary, let replaces):
            if replaces {
                try OutputFile.checkNotRecorded(path, place)
                if OutputFile.kind(of: place) != nil { try adopt() }
                try check { unsafe rename(temporary, place) }
            }
            name = .kept
        }
    }

    /// Gives the file its name, or another one for each that was taken meanwhile: `path` is the name that it got.
    ///
    /// - Parameter next: A name to try.
    /// - Throws: `CaptureError.Code.inputOutput` if it cannot be named.
    public func keep(or next: () -> String) throws(CaptureError) {
        while true {
            do throws(CaptureError) {
                return try keep()
            } catch {
                guard error.errno == EEXIST, case .pending(replaces: false) = name else { throw error }
                path = next()
                place = path
            }
        }
    }

    /// Removes a file, if it is that one.
    static func remove(_ path: String, if identity: FileIdentity) throws(CaptureError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0,
            FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) == identity
        else { return }
        guard unsafe unlink(path) != 0 else { return }
        throw failure(path, "cannot be removed", errno)
    }

    /// Whether it was kept.
    public var isKept: Bool {
        if case .kept = name { true } else { false }
    }

    /// Whether it was kept and has no name any more: it was deleted, or another file was moved to its place.
    public var isLost: Bool {
        var status = stat()
        guard isKept, unsafe fstat(descriptor.descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 0
    }

    /// Takes the file away again unless it was kept.
    public func discard() {
        guard case .provisional(let path, _) = name else { return }
        name = .kept
        // What cannot be removed stays, and is empty.
        if let identity = descriptor.identity { try? OutputFile.remove(path, if: identity) }
    }

    private func check(_ call: () -> Int32) throws(CaptureError) {
        do {
            try SystemError.check("name \(path)", call)
        } catch {
            throw OutputFile.failure(path, "cannot be named", error.errno)
        }
    }

    /// What could not be done with the file of a path, and why.
    static func failure(_ path: String, _ what: String, _ code: Int32) -> CaptureError {
        CaptureError(
            .inputOutput,
            "\(Printable.text(path)) \(what): \(SystemError.text(of: code))",
            errno: code
        )
    }

    static func open(_ path: String, _ flags: Int32) throws(CaptureError) -> Descriptor {
        do {
            return try Descriptor.open(path, flags, mode: 0o666)
        } catch {
            throw failure(path, "cannot be opened for writing", error.errno)
        }
    }

    /// Refuses a name that the folder would not take in the end: a nameless file is made without asking for it.
    private static func checkName(_ path: String) throws(CaptureError) {
        var status = stat()
        guard unsafe lstat(path, &status) != 0, errno == ENAMETOOLONG else { return }
        throw failure(path, "cannot be made", ENAMETOOLONG)
    }

    static func kind(of path: String) -> mode_t? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Short, since the name itself may be as long as a name can be.
    private static func temporaryName(beside path: String) -> String {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return "\(path[..<slash]).capture-\(UInt64.random(in: 0...UInt64.max))"
    }
}

extension Descriptor {
    /// The program's standard output, for media to be written to.
    ///
    /// - Throws: `CaptureError.Code.usage` when it is a terminal, which media would garble.
    public static func standardOutput() throws(CaptureError) -> Descriptor {
        if isatty(STDOUT_FILENO) == 1 {
            throw CaptureError(
                .usage,
                "standard output is a terminal; pipe it into a player or a file, as in '… | ffplay -'"
            )
        }
        guard StandardDescriptors.isWritable(STDOUT_FILENO) else {
            throw CaptureError(.inputOutput, "standard output is closed, or not open for writing")
        }
        let copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw CaptureError(.inputOutput, "cannot duplicate standard output", errno: errno) }
        return Descriptor(owning: copy)
    }
}
