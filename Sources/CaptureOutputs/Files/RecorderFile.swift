import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// The file, pipe or socket that the client passed, and the one place where bytes leave a recorder.
///
/// A regular file is written at its own position, counted from where the client's stood; anything else is a stream.
/// Thread-bound to the writer's thread, but for `cancel` and `sync`, which any thread may call.
final class RecorderFile: Sendable {
    /// Whether what is written can be gone back to.
    let isSeekable: Bool
    /// Whether it is a file on a disk, seekable or only added to.
    let isRegular: Bool
    /// Where in the file the recording begins, in bytes.
    let base: Int64
    private let file: Descriptor
    /// Bytes that the file may have from its start, of `base` on included.
    private let limit: Int64
    private let limitName: String
    private let state = Mutex(State())
    private let isCancelled = Atomic(false)

    private struct State {
        var position: Int64 = 0
        var size: Int64 = 0
        var failure: CaptureError?
        var writer: pthread_t?
        /// Whether it was seen to have a name.
        var hadName = false
    }

    /// Looks what kind of file it is, and whether its disk has room for a first page; writes nothing.
    ///
    /// - Parameters:
    ///   - sizeLimit: Bytes that a file may have which can be gone back in; 0 for no limit.
    ///   - maxFileSize: Another such limit, below which the output is to end by itself.
    init(_ file: Descriptor, sizeLimit: Int64 = 0, maxFileSize: Int64 = 0) throws(CaptureError) {
        self.file = file
        let ofProgram = sizeLimit > 0 ? sizeLimit : .max
        let isNearer = maxFileSize > 0 && maxFileSize < ofProgram
        limit = isNearer ? maxFileSize : ofProgram
        limitName = isNearer ? "max-file-size" : "ulimit -f"
        var status = stat()
        do throws(SystemError) {
            _ = try SystemError.check("look at the output") { unsafe fstat(file.descriptor, &status) }
            let flags = try SystemError.check("look at the output") { fcntl(file.descriptor, F_GETFL) }
            guard flags & O_ACCMODE != O_RDONLY else {
                throw SystemError("write to the output", errno: EBADF)
            }
            isRegular = status.st_mode & S_IFMT == S_IFREG
            let isAppending = flags & O_APPEND != 0
            isSeekable = isRegular && !isAppending
            base =
                isSeekable
                ? Int64(try SystemError.check("look at the output") { lseek(file.descriptor, 0, SEEK_CUR) }) : 0
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        guard !isSeekable || FileLock.take(file) else {
            throw CaptureError(.busy, "another program records into that file or has locked it; choose another name")
        }
        try reserve()
    }

    deinit {
        // The client may go on with its descriptor.
        if isSeekable { FileLock.release(file) }
    }

    /// Whether the file is still there for somebody.
    ///
    /// - Returns: A fault if it had a name and has none any more. One that never had a name is not missed.
    func lookForName() -> CaptureError? {
        var status = stat()
        guard isSeekable, unsafe fstat(file.descriptor, &status) == 0 else { return nil }
        return state.withLock { state in
            if status.st_nlink > 0 { state.hadName = true }
            guard state.hadName, status.st_nlink == 0 else { return nil }
            return CaptureError(.inputOutput, "the output file was deleted or replaced while it was being recorded")
        }
    }

    /// Fails at once where nothing could be written, so that whoever started this hears of it. A file system that cannot
    /// reserve tells with the first write.
    private func reserve() throws(CaptureError) {
        guard isSeekable, clinux_reserve(file.descriptor, base, Int64(sysconf(Int32(_SC_PAGESIZE)))) == -1 else {
            return
        }
        let code = errno
        if [ENOSPC, EDQUOT, EFBIG].contains(code) { throw keep(RecorderFile.error(code)) }
    }

    /// Bytes that the file may have, by the client's limit and this process's own.
    var largestSize: Int64 {
        var own = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &own) == 0 else { return limit }
        return min(Int64(clamping: own.rlim_cur), limit)
    }

    /// The number of the fault of a disk that is full.
    static let noSpace = ENOSPC

    /// Bytes that an account without privileges may still fill on the file's disk.
    func freeSpace() throws(CaptureError) -> Int64 {
        var disk = statvfs()
        _ = try CaptureError.wrap(
            .inputOutput,
            try SystemError.check("look at the output's disk") { unsafe fstatvfs(file.descriptor, &disk) }
        )
        let (bytes, isTooMany) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        return isTooMany ? 1 << 62 : Int64(min(bytes, 1 << 62))
    }

    /// Bytes from the start of what is made here to its furthest end.
    var size: Int64 { state.withLock { $0.size } }

    /// The first fault of writing, which explains every later one.
    var failure: CaptureError? { state.withLock { $0.failure } }

    /// Whether the reader of a pipe or socket closed it.
    var isLeft: Bool {
        guard !isSeekable, let code = failure?.errno else { return false }
        return code == EPIPE || code == ECONNRESET
    }

    /// Where the next byte goes.
    var position: Int64 { state.withLock { $0.position } }

    /// Goes to another place of a seekable file.
    func seek(to position: Int64) { state.withLock { $0.position = position } }

    /// Writes all bytes at the position and moves on.
    func write(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        var done = 0
        let start = state.withLock { state in
            state.writer = pthread_self()
            return state.position
        }
        defer {
            state.withLock { state in
                state.writer = nil
                state.position = start + Int64(done)
                state.size = max(state.size, state.position)
            }
        }
        while done < bytes.count {
            let place = base + start + Int64(done)
            let room = isSeekable ? max(limit - place, 0) : .max
            if room == 0 {
                let why = "the file has reached its program's limit for files, \(limit) bytes (\(limitName))"
                throw keep(CaptureError(.inputOutput, why, errno: EFBIG))
            }
            let end = done + Int(min(Int64(bytes.count - done), room))
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<end])
            let count =
                isSeekable
                ? unsafe pwrite(file.descriptor, rest.baseAddress, rest.count, off_t(place))
                : unsafe Glibc.write(file.descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                done += count
                continue
            }
            let code = errno
            if code == EAGAIN {
                try waitForRoom()
            } else if code != EINTR {
                throw keep(RecorderFile.error(code))
            }
            if isCancelled.load(ordering: .acquiring) {
                throw keep(CaptureError(.inputOutput, "the reader of the output stopped reading", errno: EAGAIN))
            }
        }
    }

    /// Writes over a part of a seekable file; the position stays.
    func overwrite(_ bytes: [UInt8], at place: Int64) throws(CaptureError) {
        let before = position
        seek(to: place)
        defer { seek(to: before) }
        try write(bytes)
    }

    /// Writes all bytes at the position and moves on.
    func write(_ bytes: [UInt8]) throws(CaptureError) {
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            try unsafe write(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Ends a seekable file at a place, and forgets a fault of what lay behind it.
    func truncate(to size: Int64) {
        guard isSeekable else { return }
        // A file that cannot be cut keeps its torn end, which players skip.
        _ = ftruncate(file.descriptor, off_t(base + size))
        state.withLock { state in
            state.size = size
            state.position = size
            state.failure = nil
        }
    }

    /// Cuts off what the client's file held behind the end.
    func trim() {
        if isSeekable { _ = ftruncate(file.descriptor, off_t(base + size)) }
    }

    /// Waits until what was written is on the disk, so that a power cut leaves it. Nothing for pipes.
    func sync() throws(CaptureError) {
        guard isSeekable else { return }
        do throws(SystemError) {
            try SystemError.check("write to the disk") { fdatasync(file.descriptor) }
        } catch {
            throw keep(RecorderFile.error(error.errno))
        }
    }

    /// Makes a write that waits for a slow reader give up. To be called again until the writer is done: a signal that
    /// arrives just before the call is made is lost.
    func cancel() {
        guard !isSeekable else { return }
        isCancelled.store(true, ordering: .releasing)
        // Under the lock, so that the thread cannot have ended.
        state.withLock { state in
            if let writer = state.writer { pthread_kill(writer, SIGUSR1) }
        }
    }

    /// Lets SIGUSR1 interrupt a write and do nothing else; once a process.
    static func prepareProcess() {
        clinux_interrupt_by(SIGUSR1)
        clinux_ignore_signal(SIGPIPE)
        clinux_ignore_signal(SIGXFSZ)
    }

    /// Lets the signal reach the thread that writes, whatever its maker had blocked.
    static func prepareThread() {
        clinux_unblock_signal(SIGUSR1)
    }

    private func waitForRoom() throws(CaptureError) {
        _ = try CaptureError.wrap(.inputOutput, try Poll.wait(file.descriptor, for: .writable, timeout: 100))
    }

    private func keep(_ error: CaptureError) -> CaptureError {
        state.withLock { state in
            if let first = state.failure { return first }
            state.failure = error
            return error
        }
    }

    private static func error(_ code: Int32) -> CaptureError {
        let text =
            switch code {
            case ENOSPC: "no space left on the disk that the file is on"
            case EDQUOT: "the disk quota of the file's owner is used up"
            case EFBIG: "the file has reached the largest size that its system or its limit allows"
            case EPIPE, ECONNRESET: "the reader closed the pipe"
            default: "the output cannot be written: \(SystemError.text(of: code))"
            }
        return CaptureError(.inputOutput, text, errno: code)
    }
}
