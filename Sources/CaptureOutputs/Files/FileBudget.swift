import CaptureCore
import CaptureSystem

/// How far a file may grow: up to its greatest size, and while its disk keeps the least free space. Thread-bound to the
/// writer's thread.
struct FileBudget {
    /// Nanoseconds between two looks at the disk, whose room others use, too.
    private static let interval: Int64 = 500_000_000
    /// Bytes that a file takes on its disk beside its own: its last block, and the lists of its blocks.
    private static let listing: Int64 = 65_536

    private let file: RecorderFile
    private let fileSize: Int64
    private let freeSpace: Int64
    private var looked = Timestamp(nanoseconds: 0)
    /// Bytes that the file may have for the disk's sake.
    private var sizeOnDisk: Int64 = .max

    /// Looks at the disk if it matters.
    ///
    /// - Throws: `invalidArgument` for a least free space of what is no file, and `inputOutput` if so much is not free now.
    init(_ file: RecorderFile, _ limits: OutputLimits) throws(CaptureError) {
        self.file = file
        fileSize = limits.fileSize > 0 ? max(limits.fileSize - file.base, 0) : .max
        freeSpace = limits.freeSpace
        guard freeSpace > 0 else { return }
        guard file.isRegular else {
            throw CaptureError(
                .invalidArgument,
                "a least free space needs a file on a disk, and the output is a pipe, a socket or a device; leave it out"
            )
        }
        let free = try look()
        guard sizeOnDisk >= OutputDescription.leastMaxFileSize else {
            throw CaptureError(
                .inputOutput,
                "the disk has \(free) bytes free, too few to record and keep \(freeSpace) bytes free",
                errno: RecorderFile.noSpace
            )
        }
    }

    /// Whether there is a limit at all.
    var isLimited: Bool { fileSize < .max || freeSpace > 0 }

    /// The bytes that the file may have, and why no more; `nil` without a limit.
    ///
    /// - Parameter hole: Bytes before the file's end that take no room on the disk yet, and will.
    mutating func largest(filling hole: Int64 = 0) throws(CaptureError) -> (size: Int64, by: RecordingLimit)? {
        guard isLimited else { return nil }
        if freeSpace > 0, Timestamp.now - looked >= FileBudget.interval { _ = try look() }
        let onDisk = sizeOnDisk == .max ? .max : sizeOnDisk - hole
        return onDisk < fileSize ? (onDisk, .freeSpace) : (fileSize, .fileSize)
    }

    /// Which limit a file of so many bytes goes beyond; `nil` for none.
    mutating func limit(reachedBy size: Int64, filling hole: Int64 = 0) throws(CaptureError) -> RecordingLimit? {
        guard let largest = try largest(filling: hole), size > largest.size else { return nil }
        return largest.by
    }

    /// What is wrong with an output that a limit ended before anything was in it; `nil` for another limit.
    static func shortfall(_ limit: RecordingLimit?, _ what: String) -> CaptureError? {
        switch limit {
        case .fileSize:
            CaptureError(.inputOutput, "the file's greatest size leaves no room for \(what); allow more bytes")
        case .freeSpace:
            CaptureError(.inputOutput, "the disk has no room for \(what) and the space that shall stay free; make room")
        default: nil
        }
    }

    /// Looks at the disk now: what the file got since the last look takes no room there, as a hole.
    mutating func noteHole() throws(CaptureError) {
        if freeSpace > 0 { _ = try look() }
    }

    /// - Returns: The bytes that are free.
    private mutating func look() throws(CaptureError) -> Int64 {
        looked = .now
        let free = try file.freeSpace()
        sizeOnDisk = file.size + free - freeSpace - FileBudget.listing
        return free
    }
}
