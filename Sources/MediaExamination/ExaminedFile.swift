import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// The file that is looked into: read at any place, never written. Thread-safe.
final class ExaminedFile: Sendable {
    /// Bytes.
    let size: Int64
    private let file: Descriptor

    /// Takes a file that is open for reading alone, so that nothing that runs here can change it.
    init(_ file: Descriptor) throws(CaptureError) {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CaptureError(.internalFault, "only a regular file can be examined")
        }
        guard clinux_fcntl_getfl(file.descriptor) & O_ACCMODE == O_RDONLY else {
            throw CaptureError(.internalFault, "a file that can be written is not examined; open it for reading alone")
        }
        guard status.st_size > 0 else { throw CaptureError(.badData, "the file is empty") }
        self.file = file
        size = Int64(status.st_size)
    }

    /// Reads from a place on until the memory is full or the file ends.
    ///
    /// - Returns: How many bytes came.
    func read(into memory: UnsafeMutableRawBufferPointer, at place: Int64) throws(CaptureError) -> Int {
        try CaptureError.wrap(.inputOutput, try unsafe file.read(into: memory, at: place))
    }

    /// Some bytes from a place on; fewer where the file ends.
    func bytes(at place: Int64, count: Int) throws(CaptureError) -> [UInt8] {
        guard place >= 0, place < size else { return [] }
        return try CaptureError.wrap(
            .inputOutput,
            try file.bytes(at: place, count: Int(min(Int64(count), size - place)))
        )
    }

    /// The whole file in memory, for pictures.
    func load() throws(CaptureError) -> EncodedPacket {
        let most: Int64 = 1 << 30
        guard size <= most else {
            throw CaptureError(.badData, "the picture has \(size) bytes; those of at most \(most) are taken")
        }
        let packet = try EncodedPacket(.video, room: Int(size))
        guard try unsafe read(into: packet.mutableBytes, at: 0) == Int(size) else {
            throw CaptureError(.inputOutput, "the file became shorter while it was read")
        }
        return packet
    }
}
