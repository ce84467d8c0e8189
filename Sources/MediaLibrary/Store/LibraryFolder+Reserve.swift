import CaptureCore
import Glibc

extension LibraryFolder {
    /// Refuses what would leave less free on the disk than is kept for others.
    ///
    /// - Parameters:
    ///   - reserve: Bytes that stay free, as the limits say.
    ///   - bytes: How many are about to be written.
    /// - Throws: `inputOutput` with ENOSPC.
    func checkReserve(_ reserve: Int64?, beside bytes: Int64) throws(CaptureError) {
        let room = try room(beside: reserve)
        guard room.reserve > 0, bytes > room.free - room.reserve else { return }
        let reserve = room.reserve
        throw CaptureError(
            .inputOutput,
            "the disk with the media library has less than \(reserve) bytes left, which are kept free for other data; "
                + "make room there",
            errno: ENOSPC
        )
    }

    /// Bytes that are free on the disk, and how many of them stay so.
    ///
    /// - Throws: `inputOutput`.
    func room(beside reserve: Int64?) throws(CaptureError) -> (free: Int64, reserve: Int64) {
        var status = statvfs()
        try LibraryCall.check("the disk with the media library \(path) cannot be examined") {
            unsafe fstatvfs(transit.number, &status)
        }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            let (bytes, isEndless) = Int64(clamping: blocks)
                .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
            return isEndless ? .max : bytes
        }
        return (bytes(status.f_bavail), reserve ?? min(256 << 20, bytes(status.f_blocks) / 16))
    }
}
