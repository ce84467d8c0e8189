import CaptureCore
import CaptureSystem
import Glibc
import Synchronization
import Testing

@Suite struct `Descriptors and sockets` {
    @Test func `a descriptor closes with its last reference`() throws {
        // Another test may get its number at once. The end of the pipe tells that its writing end was closed.
        let reading = try Descriptor.pipe().reading
        var byte: [UInt8] = [0]
        #expect(unsafe try byte.withUnsafeMutableBytes { unsafe try reading.read(into: $0) } == 0)
    }

    @Test func `a regular file is known by whatever descriptor, and a device or pipe by none`() throws {
        let path = "/tmp/identity-\(getpid())"
        let first = try Descriptor.open(path, O_RDWR | O_CREAT)
        defer { unsafe unlink(path) }
        let second = try Descriptor.open(path, O_WRONLY)
        #expect(first.identity != nil)
        #expect(first.identity == second.identity)
        #expect(try Descriptor.open("/proc/self/exe", O_RDONLY).identity != first.identity)
        #expect(try Descriptor.open("/dev/null", O_WRONLY).identity == nil)
        #expect(try PacketSocket.pair().0.file.identity == nil)
    }

    @Test func `a path that is not there is named with the system's reason`() {
        let error = #expect(throws: SystemError.self) { try Descriptor.open("/nowhere/at/all", O_RDONLY) }
        #expect(error?.errno == ENOENT)
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }

    @Test func `what was sent is received from an end that left without reading`() throws {
        let ours = try {
            let (ours, theirs) = try PacketSocket.pair()
            try ours.send("stop")
            try theirs.send("progress")
            try theirs.send("finished")
            return ours
        }()
        #expect(try !ours.isAbandoned)
        #expect(try ours.receive()?.text == "progress")
        #expect(try ours.receiveText() == "finished")
        #expect(try ours.receive() == nil)
    }

    @Test func `a message carries text and open files`() throws {
        let (left, right) = try PacketSocket.pair()
        let memory = try SharedMemory(creating: "test", size: 4096)
        unsafe memory.bytes.storeBytes(of: 42, as: Int.self)
        try left.send("hello", with: [memory.file, memory.file])
        let message = try #require(try right.receive())
        #expect(message.text == "hello")
        #expect(message.files.count == 2)
        let copy = try SharedMemory(mapping: message.files[1])
        #expect(unsafe copy.bytes.load(as: Int.self) == 42)
    }

    @Test func `the other end's going is the end of messages, and sending to it an error`() throws {
        let (left, right) = try PacketSocket.pair()
        try left.send("last")
        shutdown(left.file.descriptor, Int32(SHUT_WR))
        #expect(try right.receive()?.text == "last")
        #expect(try right.receive() == nil)
        shutdown(right.file.descriptor, Int32(SHUT_RDWR))
        let error = #expect(throws: SystemError.self) { try left.send("more") }
        #expect(error?.errno == EPIPE)
    }
}

@Suite struct `A child` {
    @Test func `has the standard descriptors and no other, whatever is open here`() throws {
        // Held open, as by a library that does not use O_CLOEXEC.
        let kept = Descriptor(owning: try SystemError.check("open") { unsafe open("/dev/null", O_RDONLY) })
        let (ours, theirs) = try PacketSocket.pair()
        let child = try ChildProcess.spawn(
            "/bin/ls",
            ["-m", "/proc/self/fd"],
            standardInput: try Descriptor.open("/dev/null", O_RDONLY),
            standardOutput: theirs.file
        )
        let said = try #require(try ours.receive()).text
        // 3 is the folder that ls itself opens.
        #expect(said == "0, 1, 2, 3\n")
        #expect(ChildProcess.reap(child) == 0)
        withExtendedLifetime(kept) {}
    }
}

@Suite struct `Shared memory` {
    @Test func `nobody maps it writable again, and its size is fixed`() throws {
        let memory = try SharedMemory(creating: "test", size: 5000)
        #expect(memory.size == 8192)
        let writable = unsafe mmap(nil, 4096, PROT_WRITE, MAP_SHARED, memory.file.descriptor, 0)
        #expect(unsafe writable == MAP_FAILED)
        #expect(ftruncate(memory.file.descriptor, 0) == -1)
        #expect(unsafe write(memory.file.descriptor, "x", 1) == -1)
    }

    @Test func `a file that its owner could shrink is not mapped`() throws {
        let plain = try Descriptor.open("/proc/self/exe", O_RDONLY)
        #expect(throws: SystemError.self) { try SharedMemory(mapping: plain) }
    }
}

@Suite struct `Threads and signals` {
    @Test func `a thread runs once under its name`() throws {
        let name = Mutex("")
        let thread = try WorkerThread(name: "named-thread") {
            let seen = Files.line(of: "/proc/thread-self/comm") ?? ""
            name.withLock { $0 = seen }
        }
        thread.join()
        #expect(name.withLock { $0 } == "named-thread")
    }

    @Test func `a detached thread is never joinable, however soon it runs`() async throws {
        // pthread_join(3) on the calling thread fails with EINVAL if the thread is detached, and EDEADLK if not.
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<2000 {
                group.addTask {
                    try await WorkerThread.run("look") { pthread_join(pthread_self(), nil) }
                }
            }
            for try await code in group { #expect(code == EINVAL) }
        }
    }

    @Test func `blocking work comes back with its value or its error`() async throws {
        #expect(try await WorkerThread.run("work") { 7 } == 7)
        await #expect(throws: CaptureError.self) {
            try await WorkerThread.run("work") { () throws(CaptureError) in throw CaptureError(.busy, "busy") }
        }
    }

    @Test func `a raised signal wakes a poll, and a lowered one does not`() throws {
        let signal = try EventSignal()
        #expect(try Poll.wait(signal.descriptor, timeout: 0).isEmpty)
        signal.raise()
        signal.raise()
        #expect(try Poll.wait(signal.descriptor, timeout: 0) == .readable)
        signal.lower()
        #expect(try Poll.wait(signal.descriptor, timeout: 0).isEmpty)
    }

    @Test func `the clock is the kernel's monotonic one`() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let before = Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        #expect(Timestamp.now - before >= 0)
        #expect(Timestamp.now - before < 60_000_000_000)
    }

    @Test func `a child is started with its input and reaped with its status`() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let child = try ChildProcess.spawn("/bin/true", standardInput: theirs.file)
        #expect(ChildProcess.reap(child) == 0)
        #expect(ChildProcess.reap(child) == -1)
        withExtendedLifetime(ours) {}
        let error = #expect(throws: SystemError.self) {
            try ChildProcess.spawn("/no/such/program", standardInput: theirs.file)
        }
        #expect(error?.errno == ENOENT)
    }
}
