import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// What a file was that is to be imported, when that began: one that is still written to is not what its program wanted to
/// keep, also where it grows so slowly that the copy saw nothing of it. Of pipes there is nothing to tell.
struct SourceMark: Hashable, Sendable {
    private let size: Int64
    /// Nanoseconds since 1970.
    private let changed: Int64

    /// Looks at a file; `nil` for what is no regular one.
    ///
    /// - Throws: `.inputOutput`.
    init?(of file: Descriptor) throws(CaptureError) {
        var (size, changed) = (Int64(0), Int64(0))
        let kind = unsafe clinux_look_at_file(file.descriptor, &size, &changed)
        guard kind >= 0 else {
            throw CaptureError(.inputOutput, "what was passed cannot be looked at", errno: errno)
        }
        guard kind == 1 else { return nil }
        self.size = size
        self.changed = changed
    }

    /// Makes sure that it is what it was.
    ///
    /// - Throws: `.badData` when it is not.
    func check(_ file: Descriptor) throws(CaptureError) {
        let now = try SourceMark(of: file)
        guard now != self else { return }
        let how = now.map { $0.size == size ? "was written to" : "went from \(size) to \($0.size) bytes" } ?? "changed"
        throw CaptureError(.badData, "the file \(how) while it was imported; import it when it is finished")
    }
}
