import CLinux
import CaptureSystem
import Glibc

/// Tells which nodes in a few folders appeared or changed their permissions: inotify(7).
///
/// udev's own events come after it set the permissions; this is for what changes them later, and for machines without
/// udev. Thread-bound: one thread receives.
final class FolderWatch {
    private let file: Descriptor
    private var folders: [Int32: String] = [:]

    /// The descriptor to poll for reading.
    var descriptor: Int32 { file.descriptor }

    init() throws(SystemError) {
        file = Descriptor(owning: try SystemError.check("inotify_init") { clinux_inotify() })
    }

    /// Watches a folder; one that is not there is left out until it is added again.
    func add(_ folder: String) {
        let watch = unsafe clinux_inotify_add(file.descriptor, folder)
        if watch >= 0 { folders[watch] = folder }
    }

    /// The paths of which something is to be told; none when nothing waits.
    func changes() -> [String] {
        var paths: [String] = []
        unsafe withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            while let count = unsafe try? file.read(into: buffer), count > 0 {
                var offset = 0
                while offset + 16 <= count {
                    let watch = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                    let length = unsafe Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    let bytes = unsafe buffer[(offset + 16)..<min(count, offset + 16 + length)]
                    let name = unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                    if let folder = folders[watch], !name.isEmpty { paths.append("\(folder)/\(name)") }
                    offset += 16 + length
                }
            }
        }
        return paths
    }
}
