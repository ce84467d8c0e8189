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
        // What was on its way may still have come.
        let (begun, before) = (try await published(), try await frames(session, moreThan: 0))
        while try await published() < begun + 60 { try await Task.sleep(for: .milliseconds(10)) }
        let meanwhile = try await frames(session, moreThan: 0)
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

    @Test func `to a buffer cannot be disabled`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client(), FrameBufferOutput())
        let connection = try #require(await session.connection(with: .video, to: "buffer"))
        let error = await #expect(throws: CaptureError.self) { try await connection.setEnabled(false) }
        #expect(error?.code == .invalidArgument)
    }
}
