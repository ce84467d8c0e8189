import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct `A ring in the hands of an attacker` {
    /// Forbidden to everybody: each would change the writer's memory or delay the writer.
    private static let forbidden = [
        "write", "write-writable", "map-writable", "map-writable-writable", "protect", "truncate-open", "truncate",
        "truncate-writable", "grow-writable", "punch", "punch-writable", "seal", "seal-writable", "madvise-remove",
        "lease-write", "faults-shared-missing", "faults-shared-minor", "faults-shared-protected",
    ]
    /// Forbidden to another user, too.
    private static let forbiddenToOthers = [
        "open-writable", "chmod", "record-lock-writable", "lease-read", "process-madvise-pageout",
        "process-madvise-cold", "madvise-poison", "madvise-offline",
    ]

    /// How many pages of the slots are not in memory, for example because they were paged out: mincore(2).
    private func absentPages(_ writer: RingWriter) throws -> Int {
        let size = writer.slotCapacity * writer.slotCount
        var pages = [UInt8](repeating: 0, count: size / Int(sysconf(Int32(_SC_PAGESIZE))))
        try #require(unsafe mincore(writer.memory(ofSlot: 0).baseAddress, size, &pages) == 0)
        return pages.count { $0 & 1 == 0 }
    }

    private func attack(by user: UInt32) throws -> [Substring: Substring] {
        let writer = try RingWriter(format: Fixture.video, slots: 8, kept: 4, name: "attacked")
        let reader = try RingReader(mapping: writer.file)
        let attacker = try Attacker(writer.file, user: user, "everything")
        try #require(attacker.line() == "round")
        var number: UInt64 = 0
        for _ in 0..<8 {
            for _ in 0..<500 {
                #expect(writer.put(number))
                let buffer = try #require(try reader.take())
                #expect(buffer.sequence == number)
                #expect(unsafe buffer.plane(0).allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
                #expect(reader.confirm(buffer))
                number += 1
            }
            try #require(attacker.line() == "round")
            // A reader's advice does not page out what the writer has mapped.
            if user != geteuid() { #expect(try absentPages(writer) == 0) }
        }
        writer.finish(.stopped)
        #expect(writer.statistics.published == number)
        return attacker.results()
    }

    @Test(.enabled(if: geteuid() == 0)) func `of another user keeps being written, and that user cannot open it`()
        throws
    {
        let results = try attack(by: Attacker.nobody)
        for name in Self.forbidden + Self.forbiddenToOthers {
            #expect(results[Substring(name)] != nil && results[Substring(name)] != "done", "\(name)")
        }
        #expect(results["open-writable"] == "EACCES")
    }

    @Test func `of the same user, even root, keeps being written and cannot be changed`() throws {
        let results = try attack(by: geteuid())
        for name in Self.forbidden {
            #expect(results[Substring(name)] != nil && results[Substring(name)] != "done", "\(name)")
        }
    }

    @Test func `is handed out read-only, and only its owner can open it again`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        var status = stat()
        #expect(unsafe fstat(writer.file.descriptor, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(fcntl(writer.file.descriptor, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(fcntl(writer.file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `wakes its other readers although one moves them to another word`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let arrived = Atomic<UInt64>(0)
        let file = writer.file
        let victim = try WorkerThread(name: "victim") {
            guard let reader = try? RingReader(mapping: file, fromStart: true) else { return }
            while case .buffer = try? reader.next(timeout: 60_000_000_000) { arrived.add(1, ordering: .releasing) }
        }
        let attacker = try Attacker(writer.file, user: geteuid(), "requeue")
        for number in 0..<5 as Range<UInt64> {
            // The victim waits on a word that the writer does not wake.
            #expect(attacker.line()?.hasPrefix("led") == true)
            writer.put(number)
            let limit = Timestamp.now.advanced(by: 20_000_000_000)
            while arrived.load(ordering: .acquiring) == number, Timestamp.now < limit { sched_yield() }
            if arrived.load(ordering: .acquiring) == number { break }
        }
        #expect(arrived.load(ordering: .acquiring) == 5)
        writer.finish(.stopped)
        victim.join()
    }
}
