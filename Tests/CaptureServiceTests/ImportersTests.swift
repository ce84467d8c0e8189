import CaptureCore
import CaptureSystem
import Foundation
import Synchronization
import Testing

@testable import CaptureService

/// The daemon's side of reading and examining, with the real helper as a child.
@Suite(.timeLimit(.minutes(10))) struct ImportersTests {
    /// What was appended.
    private final class Sink: Sendable {
        let bytes = Mutex<[UInt8]>([])
        let (began, begin) = AsyncStream<Void>.makeStream()

        func take(_ more: UnsafeRawBufferPointer) {
            bytes.withLock { unsafe $0.append(contentsOf: more) }
            begin.yield()
        }
    }

    private func file(_ bytes: [UInt8]) throws -> Descriptor { try LibraryFixtures.file(bytes) }

    /// How some work fails.
    private func fault(_ work: () async throws -> Void) async -> CaptureError? {
        do {
            try await work()
            return nil
        } catch {
            return error as? CaptureError
        }
    }

    private static let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }

    @Test func `a file arrives byte for byte`() async throws {
        let sink = Sink()
        let count = try await unsafe Importers(origin: TestPrograms.recorder).copy(
            source: try file(Self.content),
            limit: 1 << 30,
            append: sink.take
        )
        #expect(count == Int64(Self.content.count))
        #expect(sink.bytes.withLock { $0 == Self.content })
    }

    @Test func `what a helper refuses is told in its words`() async throws {
        let importers = Importers(origin: TestPrograms.recorder)
        let folder = await fault {
            _ = try await unsafe importers.copy(source: try Descriptor.open("/", O_RDONLY), limit: 10, append: { _ in })
        }
        #expect(folder?.code == .badData && folder?.message.contains("a folder") == true)
        let large = await fault {
            _ = try await unsafe importers.copy(source: try file(Self.content), limit: 10, append: { _ in })
        }
        #expect(large?.code == .overQuota)
    }

    @Test func `what is thrown for a full disk ends the copy`() async throws {
        let source = try file(Self.content)
        let error = await fault {
            _ = try await unsafe Importers(origin: TestPrograms.recorder).copy(source: source, limit: 1 << 30) {
                (_) throws(CaptureError) in throw CaptureError(.inputOutput, "no space left")
            }
        }
        #expect(error?.message == "no space left")
    }

    @Test func `a source that gives nothing more is given up, and its helper with it`() async throws {
        let (reading, writing) = try LibraryFixtures.pipe()
        try unsafe [UInt8](1...3).withUnsafeBytes { try unsafe writing.write(all: $0) }
        let sink = Sink()
        let error = await fault {
            _ = try await unsafe Importers(origin: TestPrograms.recorder, patience: 20_000).copy(
                source: reading,
                limit: 1 << 30,
                append: sink.take
            )
        }
        #expect(error?.code == .timedOut && error?.message.contains("for 20 s") == true)
        #expect(sink.bytes.withLock { $0 } == [1, 2, 3])
    }

    @Test func `a task that is cancelled ends its helper`() async throws {
        let (reading, writing) = try LibraryFixtures.pipe()
        try unsafe [UInt8](1...3).withUnsafeBytes { try unsafe writing.write(all: $0) }
        let sink = Sink()
        let task = Task {
            try await unsafe Importers(origin: TestPrograms.recorder).copy(
                source: reading,
                limit: 1 << 30,
                append: sink.take
            )
        }
        for await _ in sink.began { break }
        task.cancel()
        let error = await fault { _ = try await task.value }
        #expect(error?.code == .dismissed)
    }

    @Test func `more than may at one time take their turns`() async throws {
        let importers = Importers(origin: TestPrograms.recorder, copies: 2)
        let counts = try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                let source = try file(Self.content)
                group.addTask { try await unsafe importers.copy(source: source, limit: 1 << 30, append: { _ in }) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [Int64](repeating: Int64(Self.content.count), count: 6))
    }

    /// A picture of one pixel, as GIF has it.
    private static let pixel: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]
        + [2, 2, 0x44, 1, 0, 0x3b]

    @Test func `a picture is examined, and its thumbnails come with it`() async throws {
        let (media, thumbnails) = try await Importers(origin: TestPrograms.recorder).examine(try file(Self.pixel))
        #expect(
            media == ExaminedMedia(kind: .photo, mediaType: "image/gif", codec: "gif", width: 1, height: 1)
        )
        #expect(thumbnails.count == 3)
        #expect(thumbnails.allSatisfy { $0.starts(with: [0xff, 0xd8, 0xff]) })
    }

    @Test func `what is no media is told`() async throws {
        let error = await fault {
            _ = try await Importers(origin: TestPrograms.recorder).examine(try file(Array("hello".utf8)))
        }
        #expect(error?.code == .badData)
    }

    @Test func `a helper that cannot be started, or ends without a word, is told`() async throws {
        let missing = await fault {
            _ = try await Importers(origin: .program(path: "/nonexistent")).examine(try file(Self.pixel))
        }
        #expect(missing?.code == .recorderLost)
        let silent = await fault {
            _ = try await Importers(origin: .program(path: "/bin/true")).examine(try file(Self.pixel))
        }
        #expect(silent?.code == .recorderLost)
    }

    @Test func `frames that are no pictures are none`() {
        let image: [UInt8] = [0, 0, 0, 4, 0xff, 0xd8, 0xff, 0xd9]
        #expect(Importers.thumbnails(image + image + image)?.count == 3)
        #expect(Importers.thumbnails(image + image) == nil)
        #expect(Importers.thumbnails(image + image + image + image) == nil)
        #expect(Importers.thumbnails(image + image + image.dropLast()) == nil)
        #expect(Importers.thumbnails(image + image + [0, 0, 0, 4, 1, 2, 3, 4]) == nil)
        #expect(Importers.thumbnails(image + image + [0xff, 0xff, 0xff, 0xff, 0xff, 0xd8, 0xff]) == nil)
    }
}
