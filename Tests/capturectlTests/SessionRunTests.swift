import BusSupport
import CaptureKit
import Foundation
import Testing

@testable import capturectl

/// What a run leaves on the disk, by the way its session ends.
@Suite(.timeLimit(.minutes(10)))
final class SessionRunTests {
    private let folder = NSTemporaryDirectory() + "capturectl-\(UUID().uuidString)"
    private var path: String { folder + "/out.mkv" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs a session through what `Start` does, and tells the error and the names that are left behind.
    private func run(
        isPhoto: Bool = false,
        untilRunning: Bool = false,
        overwrite: Bool = false,
        _ start: @escaping @Sendable (FakeDaemon) async throws(CaptureError) -> Void
    ) async throws -> (code: CaptureError.Code?, names: [String], isFinal: Bool) {
        let answer: FakeDaemon.Answer = { daemon, _ throws(CaptureError) in
            try await start(daemon)
            return []
        }
        let daemon = try await FakeDaemon(["Start": answer])
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        var code: CaptureError.Code?
        var isFinal = true
        do {
            let file = try OutputFile(creating: path, overwrite: overwrite)
            let output = try PhotoOutput(file: file.descriptor)
            try await session.addOutput(output)
            let naming: SessionRun.Naming = isPhoto ? .whenComplete : untilRunning ? .whenRunning : .whenItPlays
            let run = SessionRun(session: session, output: output.name, file: file, naming: naming)
            do throws(CaptureError) {
                if untilRunning {
                    try await run.untilRunning()
                } else {
                    let outcome = try await run.toTheEnd()
                    code = outcome.error?.code
                    isFinal = outcome.isFinal
                }
            } catch {
                code = error.code
            }
        }
        withExtendedLifetime(daemon) {}
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return (code, names, isFinal)
    }

    @Test(arguments: [true, false]) func `one stopped while its user is asked leaves none`(isStart: Bool) async throws {
        let end = try await run(untilRunning: isStart) { daemon throws(CaptureError) in
            try daemon.become(.authorizing)
            try daemon.become(.stopped)
        }
        #expect(end.code == .dismissed)
        #expect(end.names.isEmpty)
    }

    @Test(arguments: [CaptureError.Code.denied, .dismissed, .nobodyToAsk, .noSuchDevice])
    func `a start that is refused leaves none`(code: CaptureError.Code) async throws {
        let end = try await run(untilRunning: true) { daemon throws(CaptureError) in
            try daemon.become(.authorizing)
            try daemon.become(.failed, CaptureError(code, "as the test says"))
        }
        #expect(end.code == code)
        #expect(end.names.isEmpty)
    }

    @Test(arguments: [true, false]) func `one that fails before its first byte leaves none`(isPhoto: Bool) async throws
    {
        let end = try await run(isPhoto: isPhoto) { daemon throws(CaptureError) in
            let full = CaptureError(.inputOutput, "no space left")
            try daemon.become(.running)
            try daemon.finish("photo", full, OutputStatistics())
            try daemon.become(.failed, full)
        }
        #expect(end.code == .inputOutput)
        #expect(end.names.isEmpty)
    }

    @Test func `a photo that fails leaves the one that it was to replace`() async throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let end = try await run(isPhoto: true, overwrite: true) { daemon throws(CaptureError) in
            let full = CaptureError(.inputOutput, "no space left")
            try daemon.become(.running)
            try daemon.finish("photo", full, OutputStatistics())
            try daemon.become(.failed, full)
        }
        #expect(end.names == ["out.mkv"])
        #expect(FileManager.default.contents(atPath: path) == Data("old".utf8))
    }

    @Test(arguments: [0, 1] as [Int64])
    func `a recording that fails replaces a file once it plays, and not before`(duration: Int64) async throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let end = try await run(overwrite: true) { daemon throws(CaptureError) in
            let full = CaptureError(.inputOutput, "no space left")
            var made = OutputStatistics()
            made.duration = duration
            try daemon.become(.running)
            try daemon.finish("photo", full, made)
            try daemon.become(.failed, full)
        }
        #expect(end.code == .inputOutput)
        #expect(end.names == ["out.mkv"])
        #expect(FileManager.default.contents(atPath: path) == Data((duration > 0 ? "" : "old").utf8))
    }

    @Test func `what a lost daemon's recorder is still writing keeps its name`() async throws {
        let end = try await run { daemon throws(CaptureError) in
            try daemon.become(.running)
            Task {
                // The start is answered and the client sees it run before the daemon is gone.
                await daemon.called("GetStatistics")
                await daemon.connection.close()
            }
        }
        #expect(end.code == .unreachable)
        #expect(end.names == ["out.mkv"])
        #expect(!end.isFinal)
    }

    @Test func `an output at its end is counted for good, though its daemon is lost then`() async throws {
        let end = try await run { daemon throws(CaptureError) in
            try daemon.become(.running)
            Task {
                await daemon.called("GetStatistics")
                try daemon.finish("photo", nil, OutputStatistics())
                await daemon.connection.close()
            }
        }
        #expect(end.code == .unreachable)
        #expect(end.isFinal)
    }

    @Test func `what shows a session may close when the session ends`() async throws {
        let (endings, closed) = AsyncStream<Void>.makeStream()
        let start: FakeDaemon.Answer = { daemon, _ throws(CaptureError) in
            try daemon.become(.running)
            try daemon.finish("video-data", nil, OutputStatistics())
            return []
        }
        let stop: FakeDaemon.Answer = { daemon, _ throws(CaptureError) in
            closed.finish()
            // That it closed is known before the session has ended.
            try? await Task.sleep(for: .milliseconds(300))
            try daemon.become(.stopped)
            return []
        }
        let daemon = try await FakeDaemon(["Start": start, "Stop": stop])
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        try await session.addOutput(VideoDataOutput(name: "video-data"))
        let closing = Task { for await _ in endings {} }
        let outcome = try await SessionRun(session: session, output: "video-data", closing: closing).toTheEnd()
        #expect(outcome.error == nil)
        withExtendedLifetime(daemon) {}
    }
}
