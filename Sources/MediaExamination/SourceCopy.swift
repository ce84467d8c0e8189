import CaptureCore
import CaptureSystem
import Glibc

/// Reads what a program passed to its end, and writes it into a pipe. Thread-bound; may wait without limit.
struct SourceCopy {
    /// Bytes at a time.
    private static let chunk = 256 << 10

    private let source: SourceFile
    private let target: Descriptor
    private let limit: Int64

    /// A copy of at most `limit` bytes.
    init(from source: SourceFile, to target: Descriptor, limit: Int64) {
        self.source = source
        self.target = target
        self.limit = limit
    }

    /// Copies.
    ///
    /// - Returns: How many bytes there were.
    /// - Throws: `badData` when a file changes meanwhile, `overQuota` beyond the limit, `inputOutput` when reading or
    ///   writing fails.
    func run() throws(CaptureError) -> Int64 {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceCopy.chunk, alignment: 4096)
        defer { unsafe memory.deallocate() }
        switch source.kind {
        case .regular(let size): return try unsafe copyFile(of: size, through: memory)
        case .stream: return try unsafe copyStream(through: memory)
        }
    }

    private func copyFile(of size: Int64, through memory: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int64 {
        guard size <= limit else { throw tooLarge("it has \(size) bytes") }
        let before = try modified()
        var done: Int64 = 0
        // One byte more than there is: whoever still writes is not followed, however fast it writes.
        while true {
            let wanted = Int(min(Int64(memory.count), size - done + 1))
            let count = try read {
                unsafe pread(source.file.descriptor, memory.baseAddress, wanted, off_t(done))
            }
            if count == 0 { break }
            guard done + Int64(count) <= size else { throw changed("grew") }
            try unsafe write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
            done += Int64(count)
            // Whoever passed the file sees by its position how far it was read.
            _ = lseek(source.file.descriptor, off_t(done), SEEK_SET)
        }
        guard done == size else { throw changed("shrank") }
        guard try modified() == before else { throw changed("was written to") }
        return done
    }

    private func copyStream(through memory: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int64 {
        var done: Int64 = 0
        while true {
            let count = try read { unsafe Glibc.read(source.file.descriptor, memory.baseAddress, memory.count) }
            if count == 0 { return done }
            guard done + Int64(count) <= limit else { throw tooLarge("more came through the pipe or socket") }
            try unsafe write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
            done += Int64(count)
        }
    }

    /// One call that reads, again when it was interrupted, and when a program made its descriptor non-blocking.
    private func read(_ call: () -> Int) throws(CaptureError) -> Int {
        do throws(SystemError) {
            while true {
                do throws(SystemError) {
                    return try SystemError.check("read what was passed", call)
                } catch {
                    guard error.errno == EAGAIN else { throw error }
                    _ = try Poll.wait(source.file.descriptor)
                }
            }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        try CaptureError.wrap(.inputOutput, try unsafe target.write(all: bytes))
    }

    /// Size and time of the last change, which tell whether another wrote meanwhile.
    private func modified() throws(CaptureError) -> [Int64] {
        var status = stat()
        guard unsafe fstat(source.file.descriptor, &status) == 0 else {
            throw CaptureError(.inputOutput, "the passed file cannot be examined", errno: errno)
        }
        return [Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)]
    }

    private func changed(_ how: String) -> CaptureError {
        CaptureError(.badData, "the file \(how) while it was imported; import it when it is finished")
    }

    private func tooLarge(_ what: String) -> CaptureError {
        CaptureError(.overQuota, "\(what), and at most \(limit) bytes may be imported")
    }
}
