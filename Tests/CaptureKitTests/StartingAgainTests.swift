import BusSupport
import CaptureCore
import CaptureKit
import CaptureRing
import Synchronization
import Testing

/// Sessions of a real daemon that are over and start again.
@Suite(.timeLimit(.minutes(10)))
struct `Starting again` {
    @Test func `a stopped session runs again, under another number, and its buffers go on`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let frames = Atomic<Int>(0)
        let buffer = VideoDataOutput { event in
            if case .data = event { frames.add(1, ordering: .relaxed) }
        }
        let session = try await SessionLifeTests.session(daemon, buffer)
        var numbers: Set<UInt32> = []
        for _ in 0..<3 {
            let before = frames.load(ordering: .relaxed)
            try await session.startRunning()
            numbers.insert(try #require(await session.id))
            while frames.load(ordering: .relaxed) < before + 3 { try await Task.sleep(for: .milliseconds(5)) }
            try await session.stopRunning()
            #expect(await session.status.state == .stopped)
        }
        #expect(numbers.count == 3)
        #expect(buffer.failure == nil)
    }

    @Test func `a finished movie is not part of the next start, and another one takes its name`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let files = [try OutputFile.scratch(), try OutputFile.scratch()]
        let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
        for file in files {
            let movie = try MovieFileOutput(file: file.descriptor)
            #expect(await session.canAddOutput(movie))
            try await session.addOutput(movie)
            #expect(await !session.canAddOutput(movie))
            try await session.startRunning()
            try await SessionLifeTests.recorded("movie", in: session)
            try await session.stopRunning()
            #expect(await session.results.map(\.error) == [nil])
            #expect(await session.results.allSatisfy { $0.statistics.frames > 0 })
        }
        try await session.startRunning()
        #expect(await session.outputs.map(\.name) == ["buffer"])
        #expect(try await daemon.sessions().filter { !$0.status.state.isFinal }.count == 1)
        try await session.stopRunning()
    }

    @Test func `what is added to a session that is over is there at the next start`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
        try await session.startRunning()
        try await session.stopRunning()
        try await session.addOutput(FrameBufferOutput(name: "second"))
        try await session.removeOutput("buffer")
        try await session.startRunning()
        let reader = try await session.reader(of: "second")
        #expect(reader.format.mediaType == .video)
        await #expect(throws: CaptureError.self) { _ = try await session.reader(of: "buffer") }
        try await session.stopRunning()
    }

    @Test func `a start that failed can be tried again`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(daemon, try MovieFileOutput(file: file.descriptor))
        try await session.addInput(.microphone("nothing of that name"))
        let error = await #expect(throws: CaptureError.self) { try await session.startRunning() }
        #expect(error?.code == .noSuchDevice)
        try await session.removeInput("microphone")
        try await session.startRunning()
        try await SessionLifeTests.recorded("movie", in: session)
        try await session.stopRunning()
        #expect(await session.results.map(\.error) == [nil])
    }

    @Test func `many starts at a time make one session`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await SessionLifeTests.session(daemon, VideoDataOutput { _ in })
        try await session.startRunning()
        try await session.stopRunning()
        let before = try await daemon.sessions().count
        await withTaskGroup { group in
            // All but the first find it started.
            for _ in 0..<8 { group.addTask { try? await session.start() } }
        }
        #expect(try await daemon.sessions().count { !$0.status.state.isFinal } <= 1)
        #expect(try await daemon.sessions().count <= before + 1)
        try await session.stopRunning()
    }

    @Test func `a session of another program that is over is not started anew`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client(), FrameBufferOutput())
        try await session.startRunning()
        let found = try await CaptureSession.session(try #require(await session.id), on: try await captured.client())
        try await session.stopRunning()
        for await status in try await found.states() where status.state.isFinal { break }
        #expect(await code { try await found.start() } == .wrongState)
    }
}
