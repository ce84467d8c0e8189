import BusSupport
import CaptureBus
import CaptureKit
import CaptureMessages
import Foundation
import Testing

@testable import capturectl

/// Recordings into the library, as far as the command line has to do with them.
@Suite(.timeLimit(.minutes(10)))
struct SavingTests {
    /// Runs a session into the library whose daemon does something at its start.
    private func run(
        _ start: @escaping @Sendable (FakeDaemon) async throws(CaptureError) -> Void
    ) async throws -> (outcome: SessionOutcome, daemon: FakeDaemon) {
        let answer: FakeDaemon.Answer = { daemon, _ throws(CaptureError) in
            try await start(daemon)
            return []
        }
        let daemon = try await FakeDaemon(["Start": answer])
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        try await session.addOutput(try MovieFileOutput(toLibrary: LibraryDestination(album: "Trip")))
        return (try await SessionRun(session: session, output: "movie").toTheEnd(), daemon)
    }

    private func summary(_ outcome: SessionOutcome) -> RecordingSummary {
        RecordingSummary(file: nil, format: "mkv", outcome: outcome)
    }

    @Test func `what is saved is told by its id and its album`() async throws {
        let (outcome, daemon) = try await run { daemon throws(CaptureError) in
            try daemon.become(.running)
            try daemon.save("movie", ["id": .string("0123"), "album": .string("Trip")])
            try daemon.finish("movie", nil, OutputStatistics())
            try daemon.become(.stopped)
        }
        #expect(outcome.error == nil)
        #expect(outcome.saved == SavedOutput(asset: "0123", album: "Trip"))
        let text = summary(outcome).text
        #expect(text.hasPrefix("in the media library as 0123: mkv, 0 B"))
        #expect(text.contains("  in the album 'Trip'"))
        #expect(summary(outcome).json["library"]?["id"] == JSON("0123"))
        #expect(summary(outcome).json["file"] == .null)
        let call = try #require(daemon.calls("CreateSession").first)
        #expect(call.arguments[1].outputNames.isEmpty)
        let sent = try SessionDescription(busValue: call.arguments[0])
        #expect(sent.outputs.first?.library == LibraryDestination(album: "Trip"))
    }

    @Test func `what may not be read back is told without an id, and why it joined no album`() async throws {
        let (outcome, _) = try await run { daemon throws(CaptureError) in
            try daemon.become(.running)
            try daemon.save("movie", ["remark": .string("it was added to no album")])
            try daemon.finish("movie", nil, OutputStatistics())
            try daemon.become(.stopped)
        }
        let text = summary(outcome).text
        #expect(text.hasPrefix("added to the media library, which this program may not read: mkv"))
        #expect(text.contains("  it was added to no album"))
        #expect(summary(outcome).json["library"]?["id"] == .null)
    }

    @Test func `what was not saved is told with the reason`() async throws {
        let kept = CaptureError(.revoked, "the consent went; the recording is kept")
        let (outcome, _) = try await run { daemon throws(CaptureError) in
            try daemon.become(.running)
            try daemon.finish("movie", kept, OutputStatistics())
            try daemon.become(.failed, kept)
        }
        #expect(outcome.error == kept)
        #expect(summary(outcome).text.hasPrefix("not in the media library: mkv"))
        #expect(summary(outcome).json["library"] == .null)
    }

    @Test func `what is kept is listed, saved and discarded`() async throws {
        let tool = try await LibraryTool()
        let none = try await tool.run("kept")
        #expect(none.code == 0 && none.messages.contains("no recording is waiting"))
        let ids = ["aaaaaa00000000000000000000000000", "bbbbbb00000000000000000000000000"]
        tool.fake.keep(
            ids.map { id in
                var recording = KeptRecording()
                recording.id = id
                recording.name = "clip.mkv"
                recording.size = 1536
                recording.program = "exe:/test"
                recording.album = "Trip"
                recording.reason = "the disk was full"
                return recording
            }
        )
        let listed = try await tool.run("kept")
        #expect(listed.output.split(separator: "\n").count == 3)
        #expect(
            listed.output.contains("aaaaaa000000  1970-01-01 00:00:00  clip.mkv  1.5 KiB  exe:/test  the disk was full")
        )
        let rows = try await tool.run("kept", "list", "--json").rows()
        #expect(rows.compactMap { $0["id"] as? String } == ids)
        #expect(rows.first?["album"] as? String == "Trip")
        let saved = try await tool.run("kept", "save", "aaaaaa")
        #expect(saved.code == 0 && saved.output.count == 33)
        #expect(saved.messages.contains("saved into the media library, in the album 'Trip'"))
        let discarded = try await tool.run("kept", "discard", ids[1])
        #expect(discarded.code == 0 && discarded.messages.contains("1 recording discarded"), "\(discarded)")
        #expect(try await tool.run("kept", "list", "--json").rows().isEmpty)
        #expect(try await tool.run("count").output == "1\n")
        #expect(try await tool.run("kept", "discard", "bbbbbb").code == 66)
        for verb in ["save", "discard"] {
            let wrong = try await tool.run("kept", verb, "zz")
            let told = wrong.messages.contains("'zz' is not a valid recording id")
            #expect(wrong.code == 64 && told, "\(wrong.messages)")
            #expect(wrong.messages.contains("as 'library kept' prints them"))
        }
    }

    @Test func `what cannot be saved after all keeps the others from nothing`() async throws {
        let tool = try await LibraryTool()
        let ids = ["aaaaaa", "bbbbbb", "cccccc"].map { $0 + String(repeating: "0", count: 26) }
        tool.fake.keep(
            ids.enumerated().map { index, id in
                var recording = KeptRecording()
                recording.id = id
                recording.name = "clip.mkv"
                if index == 1 { recording.program = "exe:/test" }
                return recording
            }
        )
        let saved = try await tool.run(["kept", "save"] + ids)
        #expect(saved.code == 74)
        #expect(saved.output.count == 33)
        for part in [
            "\(ids[0]) was not saved, and is still kept: there is no room", "\(ids[1]) saved",
            "\(ids[2]) was not saved",
        ] {
            #expect(saved.messages.contains(part), "\(saved.messages)")
        }
    }
}
