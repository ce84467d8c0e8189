import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A movie in segments` {
    private let bench = EngineBench()
    private let client = EngineBench.client()

    private func running() async throws -> UInt32 {
        var description = EngineBench.movie()
        description.outputs[0].segments = SegmentRule(duration: 1_000_000_000)
        let id = try await bench.running(description)
        await report(.began(1))
        return id
    }

    private func refusal(_ file: UInt64, in id: UInt32, by client: SessionClient) async -> CaptureError.Code? {
        await #expect(throws: CaptureError.self) {
            try await bench.engine.addSegment(id, output: "movie", file: FakeFile(inode: file), client: client)
        }?.code
    }

    private func report(_ event: SegmentEvent) async {
        let before = bench.watch.segments.count
        bench.recorders.recorder("movie")?.report(.segment(event))
        while bench.watch.segments.count == before { await Task.yield() }
    }

    private static func segment(_ number: UInt32) -> MovieSegment {
        MovieSegment(number: number, time: 1, duration: 2, frames: 3, bytes: 4)
    }

    @Test func `hands files and cuts to its recorder, and tells what became of them`() async throws {
        let id = try await running()
        for file in 1...3 {
            let segment = FakeFile(inode: UInt64(file))
            try await bench.engine.addSegment(id, output: "movie", file: segment, client: client)
        }
        try await bench.engine.cut(id, output: "movie", client: client)
        #expect(bench.recorders.recorder("movie")?.switches == ["file 1", "file 2", "file 3", "cut"])
        await report(.began(2))
        await report(.finished(Self.segment(1)))
        #expect(bench.watch.segments == [.began(1), .began(2), .finished(Self.segment(1))])
    }

    @Test func `is for the program that made the session`() async throws {
        let id = try await running()
        let other = EngineBench.client(":1.2", program: "other")
        #expect(await refusal(1, in: id, by: other) == .notPermitted)
        #expect(await refusal(1, in: id, by: EngineBench.client(":1.3", user: 1001)) == .noSuchSession)
        await #expect(throws: CaptureError.self) { try await bench.engine.cut(id, output: "movie", client: other) }
        #expect(bench.recorders.recorder("movie")?.switches == [])
    }

    @Test func `has room for eight files in reserve`() async throws {
        let id = try await running()
        for file in 1...8 {
            let segment = FakeFile(inode: UInt64(file))
            try await bench.engine.addSegment(id, output: "movie", file: segment, client: client)
        }
        #expect(await refusal(9, in: id, by: client) == .busy)
        await report(.began(2))
        try await bench.engine.addSegment(id, output: "movie", file: FakeFile(inode: 9), client: client)
    }

    @Test func `takes no file that another output writes, or waits for`() async throws {
        let id = try await running()
        try await bench.engine.addSegment(id, output: "movie", file: FakeFile(inode: 7), client: client)
        #expect(await refusal(7, in: id, by: client) == .invalidArgument)
        // One that is complete is its program's again.
        await report(.began(2))
        await report(.finished(Self.segment(2)))
        let second = try await running()
        try await bench.engine.addSegment(second, output: "movie", file: FakeFile(inode: 7), client: client)
        #expect(await refusal(7, in: id, by: client) == .invalidArgument)
    }

    @Test func `does not keep a file that its recorder refuses, and counts on`() async throws {
        let id = try await running()
        for _ in 1...10 {
            bench.recorders.recorder("movie")?.refuse(CaptureError(.inputOutput, "full"))
            #expect(await refusal(7, in: id, by: client) == .inputOutput)
        }
        bench.recorders.recorder("movie")?.refuse(nil)
        for file in 7...14 {
            let segment = FakeFile(inode: UInt64(file))
            try await bench.engine.addSegment(id, output: "movie", file: segment, client: client)
        }
        await report(.began(2))
        await report(.finished(Self.segment(2)))
        // That was the file 7; the next one still waits.
        #expect(await refusal(8, in: id, by: client) == .invalidArgument)
        try await bench.engine.addSegment(id, output: "movie", file: FakeFile(inode: 7), client: client)
    }

    @Test func `takes no pipe`() async throws {
        let id = try await running()
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.addSegment(id, output: "movie", file: FakeFile(), client: client)
        }
        #expect(error?.code == .invalidArgument && bench.recorders.recorder("movie")?.switches == [])
    }

    @Test func `believes no recorder that tells of files it cannot have`() async throws {
        let id = try await running()
        try await bench.engine.addSegment(id, output: "movie", file: FakeFile(inode: 7), client: client)
        let recorder = bench.recorders.recorder("movie")
        recorder?.report(.segment(.began(3)))
        recorder?.report(.segment(.finished(Self.segment(2))))
        await report(.began(2))
        recorder?.report(.segment(.began(3)))
        await report(.finished(Self.segment(2)))
        recorder?.report(.segment(.finished(Self.segment(2))))
        #expect(bench.watch.segments == [.began(1), .began(2), .finished(Self.segment(2))])
    }

    @Test func `is one as it is described, and only while it records`() async throws {
        let whole = try await bench.running()
        #expect(await refusal(1, in: whole, by: client) == .invalidArgument)
        let id = try await running()
        try await bench.engine.stop(id, client: client)
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(await refusal(1, in: id, by: client) == .wrongState)
        for (change, word): ((inout OutputDescription) -> Void, String) in [
            ({ $0.maxFileSize = 1 << 20 }, "size of a segment"), ({ $0.segments?.duration = 5 }, "0.1"),
            ({ $0.segments?.fileSize = 5 }, "65536"), ({ $0.segments = SegmentRule(isAligned: true) }, "by the clock"),
        ] {
            var description = EngineBench.movie()
            description.outputs[0].segments = SegmentRule()
            change(&description.outputs[0])
            let error = await #expect(throws: CaptureError.self) { try await bench.create(description) }
            #expect(
                error?.code == .invalidArgument && error?.message.contains(word) == true,
                "\(String(describing: error))"
            )
        }
    }
}
