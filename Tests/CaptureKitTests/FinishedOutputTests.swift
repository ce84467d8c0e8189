import BusSupport
import CaptureCore
import CaptureKit
import CaptureSystem
import Foundation
import Testing

/// Photos of a real daemon's session, which finish while the session goes on.
@Suite(.timeLimit(.minutes(10)))
struct FinishedOutputTests {
    /// A running session with a buffer and a finished photo.
    private func photographed(
        _ daemon: CaptureDaemon,
        _ photo: PhotoOutput
    ) async throws -> CaptureSession {
        let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
        try await session.startRunning()
        try await take(photo, in: session)
        return session
    }

    private func take(_ photo: PhotoOutput, in session: CaptureSession) async throws {
        let before = await session.results.count { $0.name == photo.name }
        let events = try await session.events()
        try await session.addOutput(photo)
        try await finish(photo.name, after: before, events)
    }

    private func finish(_ name: String, after before: Int, _ events: AsyncStream<SessionEvent>) async throws {
        var seen = 0
        for await event in events {
            guard case .finished(let result) = event, result.name == name else { continue }
            seen += 1
            #expect(result.error == nil)
            if seen > before { return }
        }
        Issue.record("the session ended before '\(name)' was finished")
    }

    private func start(of path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(4))
    }

    @Test func `a new photo replaces a finished one of the same name`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (captured.folder + "/first.jpeg", captured.folder + "/second.png")
        let (jpeg, png) = (try OutputFile(creating: first), try OutputFile(creating: second))
        let session = try await photographed(
            try await captured.client(),
            try PhotoOutput(file: jpeg.descriptor, name: "photo1")
        )
        try jpeg.keep()
        #expect(try start(of: first).prefix(2) == [0xFF, 0xD8])

        let events = try await session.events()
        await session.beginConfiguration()
        try await session.removeOutput("photo1")
        try await session.addOutput(try PhotoOutput(file: png.descriptor, name: "photo1", format: "png"))
        try await session.commitConfiguration()
        try await finish("photo1", after: 1, events)
        try png.keep()
        #expect(try start(of: second) == Array("\u{89}PNG".unicodeScalars.map { UInt8($0.value) }))
        try await session.stopRunning()
    }

    @Test func `a new photo replaces a finished one with the same description`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (captured.folder + "/first.jpeg", captured.folder + "/second.jpeg")
        let (one, two) = (try OutputFile(creating: first), try OutputFile(creating: second))
        let session = try await photographed(
            try await captured.client(),
            try PhotoOutput(file: one.descriptor, name: "photo1")
        )
        let events = try await session.events()
        await session.beginConfiguration()
        try await session.removeOutput("photo1")
        try await session.addOutput(try PhotoOutput(file: two.descriptor, name: "photo1"))
        try await session.commitConfiguration()
        try await finish("photo1", after: 1, events)
        try two.keep()
        #expect(try start(of: second).prefix(2) == [0xFF, 0xD8])
        try await session.stopRunning()
    }

    @Test func `the camera of a finished photo can be replaced`() async throws {
        let captured = try await RealDaemon()
        let file = try OutputFile(creating: captured.folder + "/photo.jpeg")
        let session = try await photographed(
            try await captured.client(),
            try PhotoOutput(file: file.descriptor, name: "photo1")
        )
        await session.beginConfiguration()
        try await session.removeInput("camera")
        try await session.removeOutput("buffer")
        try await session.addInput(.camera("synthetic:camera", name: "other"))
        try await session.addOutput(FrameBufferOutput(name: "other"))
        try await session.commitConfiguration()
        #expect(await session.isRunning)
        #expect(try await session.statistics().outputs["photo1"]?.frames == 1)
        try await session.stopRunning()
    }

    @Test func `an output that still writes is not replaced by one of the same name`() async throws {
        let captured = try await RealDaemon()
        let (one, two) = (
            try OutputFile(creating: captured.folder + "/one.mkv"),
            try OutputFile(creating: captured.folder + "/two.mkv")
        )
        let session = try await SessionLifeTests.session(
            try await captured.client(),
            try MovieFileOutput(file: one.descriptor)
        )
        try await session.startRunning()
        await session.beginConfiguration()
        try await session.removeOutput("movie")
        try await session.addOutput(try MovieFileOutput(file: two.descriptor))
        let error = await #expect(throws: CaptureError.self) { try await session.commitConfiguration() }
        #expect(error?.message.contains("output 'movie' is running") == true)
        #expect(await session.isRunning)
        try await SessionLifeTests.recorded("movie", in: session)
        try await session.stopRunning()
    }
}
