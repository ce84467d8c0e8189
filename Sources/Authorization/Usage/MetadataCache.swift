import Synchronization

/// Metadata files as they were read, each for as long as its stamp stays the same: reading hundreds of desktop entries
/// for one question takes longer than looking at their stamps. Thread-safe.
final class MetadataCache: Sendable {
    /// What a file came to.
    enum Content: Sendable {
        case parsed(KeyFile)
        /// It says nothing about captures.
        case unmentioned
    }

    /// More files than any system has in its folders, so that one that is filled with them takes no more memory.
    private static let most = 8192

    private let known = Mutex<[String: (stamp: FileStamp, content: Content)]>([:])

    /// What the file of a path came to when it had this stamp; `nil` when that is not known.
    func content(of path: String, _ stamp: FileStamp) -> Content? {
        known.withLock { known in
            guard let entry = known[path], entry.stamp == stamp else { return nil }
            return entry.content
        }
    }

    /// Keeps what a file came to.
    ///
    /// - Parameter stamp: As it was before the file was read. Not kept when it is another now or a change might not show.
    func keep(_ content: Content, of path: String, _ stamp: FileStamp?) {
        guard let stamp, stamp.isSettled(at: FileStamp.now), FileStamp(of: path) == stamp else { return }
        known.withLock { known in
            if known.count >= MetadataCache.most { known = [:] }
            known[path] = (stamp, content)
        }
    }
}
