import Synchronization

/// A cache of metadata files, each valid until its stamp changes, because reading hundreds of desktop entries for one
/// question takes longer than checking their stamps. Thread-safe.
package final class MetadataCache: Sendable {
    /// The result of reading a file.
    package enum Content: Sendable {
        case parsed(KeyFile)
        /// It says nothing about captures.
        case unmentioned
    }

    /// More files than any system has in its folders. It bounds the memory if somebody fills a folder with them.
    private static let most = 8192

    private let known = Mutex<[String: (stamp: FileStamp, content: Content)]>([:])

    /// The result for the file of a path with this stamp; `nil` if unknown.
    package func content(of path: String, _ stamp: FileStamp) -> Content? {
        known.withLock { known in
            guard let entry = known[path], entry.stamp == stamp else { return nil }
            return entry.content
        }
    }

    /// Stores the result of a file.
    ///
    /// - Parameter stamp: The stamp before the file was read. Not stored if it differs now or if a change might not show.
    package func keep(_ content: Content, of path: String, _ stamp: FileStamp?) {
        guard let stamp, stamp.isSettled(at: FileStamp.now), FileStamp(of: path) == stamp else { return }
        known.withLock { known in
            if known.count >= MetadataCache.most { known = [:] }
            known[path] = (stamp, content)
        }
    }
}
