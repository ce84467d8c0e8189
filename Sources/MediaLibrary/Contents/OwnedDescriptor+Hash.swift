import CaptureCore
import Glibc

extension OwnedDescriptor {
    /// Reads the file from its beginning to its end, wherever the position is.
    ///
    /// - Parameter progress: How many bytes came.
    /// - Returns: Its hash and how many bytes it has.
    func hash(
        _ what: @autoclosure () -> String,
        progress: (Int64) throws(CaptureError) -> Void = { _ in }
    ) throws(CaptureError) -> (hash: String, size: Int64) {
        let hash = try SHA256()
        var size: Int64 = 0
        try unsafe pieces(what()) { piece throws(CaptureError) in
            try unsafe hash.update(piece)
            size += Int64(piece.count)
            try progress(Int64(piece.count))
        }
        return (try hash.finish(), size)
    }

    /// Reads the file from its beginning to its end, wherever the position is, and gives it on piece by piece.
    func pieces(
        _ what: @autoclosure () -> String,
        _ use: (UnsafeRawBufferPointer) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        var position: off_t = 0
        while true {
            let count = try LibraryCall.check("\(what()) cannot be read") {
                unsafe pread(number, buffer.baseAddress, buffer.count, position)
            }
            guard count > 0 else { return }
            try unsafe use(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += off_t(count)
        }
    }
}
