import BusSupport
import CaptureKit
import Foundation
import Testing

/// Recordings of a real daemon that end for the sake of the disk.
@Suite(.timeLimit(.minutes(10)))
struct `A recording with a limit` {
    @Test func `of its size ends by itself, and says by what`() async throws {
        let captured = try await RealDaemon()
        let path = captured.folder + "/movie.mp4"
        let file = try OutputFile(creating: path)
        let session = try await SessionLifeTests.session(
            try await captured.client(),
            try MovieFileOutput(file: file.descriptor, format: "mp4", videoCodec: "mjpeg", maxFileSize: 300_000)
        )
        let events = try await session.events()
        try await session.startRunning()
        for await case .finished(let result) in events {
            #expect(result.error == nil)
            #expect(result.statistics.reachedLimit == .fileSize)
            #expect(result.statistics.frames > 0)
            try file.keep()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).count
            #expect(bytes <= 300_000 && UInt64(bytes) == result.statistics.bytes)
            return
        }
        Issue.record("the session ended before its movie was finished")
    }

    @Test func `of free space that is not there does not start`() async throws {
        let captured = try await RealDaemon()
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(
            try await captured.client(),
            try MovieFileOutput(file: file.descriptor, minFreeSpace: 1 << 60)
        )
        let error = await #expect(throws: CaptureError.self) { try await session.startRunning() }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("free") == true)
    }

    @Test func `of its size is refused where it cannot be kept`() async throws {
        #expect(code { try SoundFileOutput(toLibrary: LibraryDestination(), maxFileSize: 65_535) } == .usage)
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client(), LimitedBuffer())
        let error = await #expect(throws: CaptureError.self) { try await session.startRunning() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("has no length") == true)
    }
}

/// A buffer with a greatest size, as a program of another language may describe it.
private struct LimitedBuffer: CaptureOutput {
    let name = "buffer"
    let file: Descriptor? = nil
    let mediaTypes = [MediaType.video]
    var description: OutputDescription {
        OutputDescription(name: name, kind: .buffer, format: "", maxFileSize: 1_000_000)
    }
}
