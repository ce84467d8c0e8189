import CaptureCore
import Glibc

extension LibraryFolder {
    /// Refuses what would leave less free on the disk than is kept for others.
    ///
    /// - Parameters:
    ///   - reserve: Bytes that stay free; 0 for none.
    ///   - bytes: How many are about to be written.
    /// - Throws: `inputOutput` with ENOSPC.
    func checkReserve(_ reserve: Int64, beside bytes: Int64) throws(CaptureError) {
        guard reserve > 0, try freeBytes().subtractingReportingOverflow(bytes).partialValue < reserve else { return }
        throw CaptureError(
            .inputOutput,
            "the disk with the media library has less than \(reserve) bytes left, which are kept free for other data; "
                + "make room there",
            errno: ENOSPC
        )
    }

    /// Bytes that are free on the disk.
    ///
    /// - Throws: `inputOutput`.
    func freeBytes() throws(CaptureError) -> Int64 {
        var status = statvfs()
        try LibraryCall.check("the disk with the media library \(path) cannot be examined") {
            unsafe fstatvfs(transit.number, &status)
        }
        let (free, isEndless) = Int64(clamping: status.f_bavail)
            .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return isEndless ? .max : free
    }
}
