import CaptureKit
import Glibc

/// A file that is to get into the library.
enum MediaSourceFile {
    /// Opens it for reading.
    ///
    /// - Parameter followsLink: Whether a symbolic link stands for what it leads to.
    /// - Throws: `inputOutput` when it is not there, may not be read or is a folder.
    static func open(_ path: String, followsLink: Bool = true) throws(CaptureError) -> Descriptor {
        let file: Descriptor
        do {
            // Not waiting for somebody to write into a pipe, which is refused.
            file = try Descriptor.open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
        } catch {
            // Arguments come repaired: what is no UTF-8 in them has become this sign.
            let isRepaired = error.errno == ENOENT && path.unicodeScalars.contains("\u{FFFD}")
            let reason =
                isRepaired
                ? "its name is not UTF-8, which the library needs; rename it"
                : unsafe String(cString: strerror(error.errno))
            throw CaptureError(
                .inputOutput,
                "\(Printable.text(path, limit: 1000)) cannot be opened: \(reason)",
                errno: error.errno
            )
        }
        var status = stat()
        if unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw CaptureError(
                .inputOutput,
                "\(Printable.text(path, limit: 1000)) is a folder; to add its files, use 'library import'"
            )
        }
        return file
    }

    /// A path's last part.
    static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Whether what kept one file out keeps every other out, too.
    static func endsAll(_ error: CaptureError) -> Bool {
        switch error.code {
        case .unreachable, .denied, .restricted, .revoked, .notPermitted, .missingUsageDescription, .dismissed,
            .timedOut, .nobodyToAsk, .askedTooOften, .undecided, .overQuota, .switchedOff, .userAway:
            true
        default: false
        }
    }
}
