import BusSupport
import CaptureKit
import Testing

/// Connections of recordings of a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct `A connection` {
    private func frames(_ session: CaptureSession, moreThan count: UInt64) async throws -> UInt64 {
        while true {
            if let now = try await session.statistics().outputs["movie"]?.frames, now > count { return now }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `of a camera that is disabled adds no picture, also to a session that starts again`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(
            daemon,
            FrameBufferOutput(),
            try MovieFileOutput(file: file.descriptor)
        )
        #expect(await session.connection(with: .audio) == nil)
        let connection = try #require(await session.connection(with: .video))
        #expect(try await connection.isEnabled)
        try await session.startRunning()
        _ = try await frames(session, moreThan: 5)
        try await connection.setEnabled(false)
        #expect(try await !connection.isEnabled)
        func published() async throws -> UInt64 { try await session.statistics().inputs["camera"]?.published ?? 0 }
        func sixtyLater() async throws -> (before: UInt64, meanwhile: UInt64) {
            let (begun, before) = (try await published(), try await frames(session, moreThan: 0))
            while try await published() < begun + 60 { try await Task.sleep(for: .milliseconds(10)) }
            return (before, try await frames(session, moreThan: 0))
        }
        // What was on its way may still have come, also to a recorder that is held up and hears of it later.
        var (before, meanwhile) = try await sixtyLater()
        for _ in 1..<20 where meanwhile > before + 10 { (before, meanwhile) = try await sixtyLater() }
        #expect(meanwhile <= before + 10)
        try await connection.setEnabled(true)
        _ = try await frames(session, moreThan: meanwhile + 5)
        try await connection.setEnabled(false)
        try await session.stopRunning()
        let again = try OutputFile.scratch()
        try await session.addOutput(try MovieFileOutput(file: again.descriptor, name: "again"))
        let second = try #require(await session.connection(with: .video, to: "again"))
        try await second.setEnabled(false)
        try await session.startRunning()
        let first = try await published()
        while try await published() < first + 30 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await session.statistics().outputs["again"]?.frames == 0)
        #expect(try await !second.isEnabled)
        try await session.stop()
    }

    @Test func `is removed before its output begins, and not after`() async throws {
        let captured = try await RealDaemon()
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(
            try await captured.client(),
            FrameBufferOutput(),
            try MovieFileOutput(file: file.descriptor)
        )
        try await session.addInput(.microphone())
        try await session.connection(with: .audio)?.setEnabled(false)
        func refusal(_ input: String, _ output: String) async -> CaptureError? {
            await #expect(throws: CaptureError.self) { try await session.removeConnection(from: input, to: output) }
        }
        #expect(await refusal("microphone", "buffer")?.code == .usage)
        try await session.removeConnection(from: "microphone", to: "movie")
        #expect(await session.connections.map(\.input) == ["camera", "camera"])
        #expect(await refusal("microphone", "movie")?.code == .usage)
        // One that is made again is enabled; then the other one remains.
        try await session.addConnection(from: "microphone", to: "movie")
        #expect(try await session.connection(with: .audio)?.isEnabled == true)
        try await session.removeConnection(from: "camera", to: "movie")
        try await session.startRunning()
        try await until { try await session.statistics().outputs["movie"]?.samples != 0 }
        for (input, output) in [("microphone", "movie"), ("camera", "buffer")] {
            let error = await refusal(input, output)
            #expect(error?.code == .wrongState && error?.message.contains("disable one") == true)
        }
        #expect(await session.connections.count == 2)
        let more = try OutputFile.scratch()
        await session.beginConfiguration()
        try await session.addOutput(try MovieFileOutput(file: more.descriptor, name: "more"))
        try await session.removeConnection(from: "microphone", to: "more")
        try await session.commitConfiguration()
        try await SessionLifeTests.recorded("more", in: session)
        #expect(try await session.statistics().outputs["movie"]?.frames == 0)
        try await session.stopRunning()
        #expect(try await session.statistics().outputs["more"]?.samples == 0)
        // Over, it can be changed again.
        try await session.removeConnection(from: "camera", to: "buffer")
    }

    @Test(arguments: [true, false])
    func `to a handler brings nothing while it is disabled, and what is captured after that`(isAtStart: Bool)
        async throws
    {
        let captured = try await RealDaemon()
        let told = Told<VideoFrame>()
        let output = VideoDataOutput(name: "frames", alwaysDiscardsLateVideoFrames: false) { told.take($0) }
        let session = try await SessionLifeTests.session(try await captured.client(), output)
        let connection = try #require(await session.connection(with: .video, to: "frames"))
        func published() async throws -> UInt64 { try await session.statistics().inputs["camera"]?.published ?? 0 }
        if isAtStart { try await connection.setEnabled(false) }
        try await session.startRunning()
        if !isAtStart {
            #expect(try await told.until { $0.data.count > 5 })
            try await connection.setEnabled(false)
        }
        #expect(try await !connection.isEnabled)
        let off = Timestamp.now
        let before = try await published()
        while try await published() < before + 60 { try await Task.sleep(for: .milliseconds(10)) }
        // What was captured before that may still have come.
        #expect(told.data.allSatisfy { $0.time < off })
        let count = told.data.count
        let on = Timestamp.now
        try await connection.setEnabled(true)
        #expect(try await told.until { $0.data.count > count + 5 })
        // One may have been on its way.
        #expect(told.data.dropFirst(count).count { $0.time < on } <= 1)
        #expect(told.ends.isEmpty && output.failure == nil)
        try await session.stopRunning()
    }

    @Test func `to a buffer that is disabled gives no reader`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client(), FrameBufferOutput())
        let connection = try #require(await session.connection(with: .video, to: "buffer"))
        try await connection.setEnabled(false)
        try await session.startRunning()
        #expect(await code { _ = try await session.reader(of: "buffer") } == .wrongState)
        try await connection.setEnabled(true)
        let reader = try await session.reader(of: "buffer")
        guard case .buffer = try reader.next(timeout: 60_000_000_000) else {
            Issue.record("no buffer came")
            return
        }
    }
}
