import CaptureCore
import Glibc

extension OwnedDescriptor {
    /// Reads the file from its beginning to its end, wherever the position is.
    ///
    /// - Parameter progress: How many bytes came.
    /// - Returns: Its hash and how many bytes it has.
    func hash(
        _ what: @autoclosure () -> String,
        progress: (Int64) -> Void = { _ in }
    ) throws(CaptureError) -> (hash: String, size: Int64) {
        let hash = try SHA256()
        var size: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = try LibraryCall.check("\(what()) cannot be read") {
                unsafe pread(number, buffer.baseAddress, buffer.count, off_t(size))
            }
            guard count > 0 else { return (try hash.finish(), size) }
            try unsafe hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            size += Int64(count)
            progress(Int64(count))
        }
    }
}
