import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// What a program passes, read to its end by the real program in its sandbox.
@Suite struct SourceCopyTests {
    private func copy(_ source: Descriptor, limit: Int64 = 1 << 40) throws -> (ImportReport, [UInt8]) {
        let run = try ImportRun(.copy(limit: limit), source)
        let bytes = try run.bytes()
        return (try run.report(), bytes)
    }

    private func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw SystemError("make a pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    private static let content = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    @Test func `a file is read from its beginning, and its position tells how far`() throws {
        let file = try MediaFile(Self.content)
        let source = try file.reading
        lseek(source.descriptor, 1000, SEEK_SET)
        let (report, bytes) = try copy(source)
        #expect(report == .copied(bytes: Int64(Self.content.count)))
        #expect(bytes == Self.content)
        #expect(lseek(source.descriptor, 0, SEEK_CUR) == Int64(Self.content.count))
    }

    /// Leaves a pipe's end. Its number stays the descriptor's own, which closes it when it goes: whoever had it by then would
    /// be another test.
    private static func leave(_ end: Descriptor) {
        let nothing = unsafe Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        #expect(nothing >= 0 && dup2(nothing, end.descriptor) == end.descriptor)
        close(nothing)
    }

    @Test func `a pipe is read to its end`() throws {
        let (reading, writing) = try pipe()
        let run = try ImportRun(.copy(limit: 1 << 40), reading)
        let writer = try WorkerThread(name: "program") {
            _ = unsafe Self.content.withUnsafeBytes { try? unsafe writing.write(all: $0) }
            Self.leave(writing)
        }
        #expect(try run.bytes() == Self.content)
        writer.join()
        #expect(try run.report() == .copied(bytes: Int64(Self.content.count)))
        #expect(try run.process.wait() == 0)
    }

    @Test func `a socket is read to its end, though it does not wait`() throws {
        var ends: [Int32] = [-1, -1]
        unsafe #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (ours, theirs) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        _ = fcntl(theirs.descriptor, F_SETFL, O_NONBLOCK)
        let run = try ImportRun(.copy(limit: 100), theirs)
        try unsafe [UInt8](1...10).withUnsafeBytes { try unsafe ours.write(all: $0) }
        shutdown(ours.descriptor, Int32(SHUT_WR))
        #expect(try run.bytes() == [UInt8](1...10))
        #expect(try run.report() == .copied(bytes: 10))
    }

    @Test func `what has no end is read to the limit`() throws {
        let (reading, writing) = try pipe()
        let run = try ImportRun(.copy(limit: 100_000), reading)
        let writer = try WorkerThread(name: "program") {
            // Until nobody reads any more.
            signal(SIGPIPE, SIG_IGN)
            while unsafe Self.content.withUnsafeBytes({ (try? unsafe writing.write(all: $0)) != nil }) {}
        }
        #expect(try run.bytes().count <= 100_000)
        guard case .failed(let error) = try run.report() else { throw CaptureError(.internalFault, "it is taken") }
        #expect(error.code == .overQuota && error.message.contains("100000 bytes"))
        #expect(try run.process.wait() == 74)
        // The test holds a reading end as the program would.
        Self.leave(reading)
        writer.join()
    }

    @Test func `a file beyond the limit is refused before it is read`() throws {
        let file = try MediaFile(Self.content)
        let (report, bytes) = try copy(try file.reading, limit: Int64(Self.content.count) - 1)
        guard case .failed(let error) = report else { throw CaptureError(.internalFault, "it is taken") }
        #expect(error.code == .overQuota)
        #expect(bytes.isEmpty)
        #expect(try copy(try file.reading, limit: Int64(Self.content.count)).1.count == Self.content.count)
    }

    /// Changes a file when its first bytes were read, and there is no room in the pipe for the last.
    private func change(_ how: (Descriptor) throws -> Void) throws -> CaptureError {
        let file = try MediaFile(Self.content)
        let run = try ImportRun(.copy(limit: 1 << 40), try file.reading)
        _ = try Poll.wait(run.pipe.descriptor)
        try how(try Descriptor.open(file.path, O_RDWR | O_APPEND))
        _ = try run.bytes()
        guard case .failed(let error) = try run.report() else { throw CaptureError(.internalFault, "it is taken") }
        return error
    }

    @Test func `a file that grows, shrinks or is written over meanwhile is told`() throws {
        let grown = try change { file in try unsafe [UInt8](1...9).withUnsafeBytes { try unsafe file.write(all: $0) } }
        #expect(grown.code == .badData && grown.message.contains("grew while it was imported"))
        let shrunk = try change { file in #expect(ftruncate(file.descriptor, 1_000_000) == 0) }
        #expect(shrunk.code == .badData && shrunk.message.contains("shrank while it was imported"))
        let written = try change { file in
            var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
            unsafe #expect(futimens(file.descriptor, &times) == 0)
        }
        #expect(written.code == .badData && written.message.contains("was written to while it was imported"))
    }

    @Test func `what has no content to read is refused, saying what would have`() throws {
        let file = try MediaFile([1, 2, 3])
        var unconnected: [(Descriptor, String)] = []
        let listener = Descriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        unconnected.append((listener, "a socket that is no connected stream"))
        let path: Int32 = 0o10000000
        for (source, what) in try [
            (Descriptor.open("/", O_RDONLY), "a folder"), (Descriptor.open("/dev/zero", O_RDONLY), "a device"),
            (Descriptor.open(file.path, path), "O_PATH"), (Descriptor.open(file.path, O_WRONLY), "writing alone"),
            (Descriptor(owning: EventSignal.duplicate()), "no content"),
        ] + unconnected {
            let error = try ImportRun.fault(.copy(limit: 100), source)
            #expect(error.code == .badData, "\(error)")
            #expect(error.message.contains(what) && error.message.contains("pass a file, a pipe"), "\(error)")
        }
    }

    @Test func `one that waits for ever ends with the daemon's connection, and with SIGTERM`() throws {
        let (reading, writing) = try pipe()
        let left = try ImportRun(.copy(limit: 100), reading)
        shutdown(left.socket.file.descriptor, Int32(SHUT_RDWR))
        #expect(try left.process.wait() == 69)
        let stopped = try ImportRun(.copy(limit: 100), reading)
        try unsafe [UInt8(1)].withUnsafeBytes { try unsafe writing.write(all: $0) }
        // Its first byte says that it is at work.
        _ = try Poll.wait(stopped.pipe.descriptor)
        stopped.process.kill(SIGTERM)
        #expect(try stopped.process.wait() == 69)
    }

    @Test func `it reads in a sandbox, within limits`() throws {
        let (reading, writing) = try pipe()
        let run = try ImportRun(.copy(limit: 100), reading)
        try unsafe [UInt8(1)].withUnsafeBytes { try unsafe writing.write(all: $0) }
        _ = try Poll.wait(run.pipe.descriptor)
        let status = try Shell.read("/proc/\(run.process.pid)/status").split(separator: "\n").map(String.init)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        let limits = try Shell.read("/proc/\(run.process.pid)/limits")
        #expect(limits.contains("Max address space") && limits.contains("4294967296"))
    }

    @Test func `a job with an unknown key is refused`() throws {
        let (here, there) = try PacketSocket.pair()
        let process = try RecorderProcess(there, RecorderProcess.Limits())
        try here.send("message=copy\nlimit=1\ncolour=red\n")
        let text = try #require(try here.receive()).text
        #expect(text.contains("colour"))
        #expect(try process.wait() == 65)
    }
}

extension EventSignal {
    /// A descriptor of the kind that is neither a file nor a stream.
    fileprivate static func duplicate() throws -> Int32 {
        let signal = try EventSignal()
        return dup(signal.descriptor)
    }
}
