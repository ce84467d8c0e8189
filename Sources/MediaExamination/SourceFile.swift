import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// What a program passed to be imported, once it is clear that it can be read to an end.
struct SourceFile {
    /// How it is read.
    enum Kind: Equatable {
        /// From its beginning, whatever the program's own position, for as many bytes as it has now.
        case regular(size: Int64)
        /// What comes, until its end: a pipe, or a connected socket.
        case stream
    }

    let file: Descriptor
    let kind: Kind

    /// Looks what it is; reads nothing.
    ///
    /// - Throws: `badData` for what cannot be imported, saying what would be right.
    init(_ file: Descriptor) throws(CaptureError) {
        self.file = file
        let flags = clinux_fcntl_getfl(file.descriptor)
        var status = stat()
        guard flags >= 0, unsafe fstat(file.descriptor, &status) == 0 else {
            throw CaptureError(.inputOutput, "the passed file cannot be examined", errno: errno)
        }
        // Asked first: such a descriptor says of itself that it is open for reading.
        guard clinux_is_path_alone(file.descriptor) == 0 else {
            throw SourceFile.refusal("a descriptor that only names a file (O_PATH)")
        }
        guard flags & O_ACCMODE != O_WRONLY else { throw SourceFile.refusal("open for writing alone") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular(size: Int64(status.st_size))
        case S_IFIFO: kind = .stream
        case S_IFSOCK:
            guard clinux_is_connected_stream(file.descriptor) == 1 else {
                throw SourceFile.refusal("a socket that is no connected stream")
            }
            kind = .stream
        case S_IFDIR: throw SourceFile.refusal("a folder")
        case S_IFCHR, S_IFBLK: throw SourceFile.refusal("a device")
        default: throw SourceFile.refusal("of a kind that has no content")
        }
    }

    private static func refusal(_ what: String) -> CaptureError {
        CaptureError(
            .badData,
            "what was passed is \(what); pass a file, a pipe or a connected socket that is open for reading"
        )
    }
}
