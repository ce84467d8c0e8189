import BusSupport
import CaptureBus
import CaptureKit
import CaptureMessages
import Testing

/// What a client has to do with outputs that are saved into the library.
@Suite(.timeLimit(.minutes(10)))
struct LibrarySavingTests {
    private static let nothing: [LibraryLevel: AuthorizationStatus] = [
        .addOnly: .notDetermined, .readWrite: .notDetermined,
    ]

    @Test func `the consent is asked for in the order of the levels, each once`() async throws {
        let cases: [([LibraryLevel: AuthorizationStatus], [LibraryLevel], CaptureError.Code?)] = [
            ([.readWrite: .authorized], [.readWrite], nil),
            ([.readWrite: .denied, .addOnly: .authorized], [.readWrite, .addOnly], nil),
            ([.readWrite: .denied, .addOnly: .denied], [.readWrite, .addOnly], .denied),
            ([.addOnly: .authorized], [.readWrite, .addOnly], nil), ([:], [.readWrite, .addOnly], .dismissed),
        ]
        for (answers, asked, code) in cases {
            let fake = FakeLibrary(Self.nothing, answers: answers)
            let (daemon, library) = try await fake.open()
            var found: CaptureError.Code?
            do throws(CaptureError) {
                try await library.requestSaving()
            } catch {
                found = error.code
            }
            #expect(found == code, "\(answers)")
            #expect(fake.asked == asked, "\(answers)")
            withExtendedLifetime(daemon) {}
        }
    }

    @Test func `an output for the library is added to a session without a file`() async throws {
        let daemon = try await FakeDaemon()
        let session = try await CaptureSession.session(7, on: try await daemon.client())
        let destination = LibraryDestination(name: "a.jpg", album: "Trip")
        try await session.addOutput(try PhotoOutput(toLibrary: destination), fedBy: ["camera"])
        let call = try #require(daemon.calls("AddOutput").first)
        #expect(try OutputDescription(busValue: call.arguments[0]).library == destination)
        #expect(call.arguments[1].texts == ["camera"])
        #expect(call.arguments[2] == .string("") && daemon.calls("OpenDoor").isEmpty)
    }

    @Test(arguments: [AuthorizationStatus.authorized, .denied])
    func `an output for the library that a running session gets is asked for`(answer: AuthorizationStatus) async throws
    {
        let fake = FakeLibrary(Self.nothing, answers: [.readWrite: answer, .addOnly: answer])
        let daemon = try await FakeDaemon(fake, replacing: ["Start": FakeDaemon.becoming(.running)])
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        let file = try OutputFile.scratch()
        try await session.addOutput(try MovieFileOutput(file: file.descriptor))
        try await session.startRunning()
        let output = try PhotoOutput(toLibrary: LibraryDestination(name: "a.jpg"))
        var refusal: CaptureError?
        do throws(CaptureError) {
            try await session.addOutput(output)
        } catch {
            refusal = error
        }
        let isAllowed = answer == .authorized
        #expect(refusal?.code == (isAllowed ? nil : .denied))
        #expect(fake.asked == (isAllowed ? [.readWrite] : [.readWrite, .addOnly]))
        #expect(daemon.calls("Configure").count == (isAllowed ? 1 : 0))
        #expect(await session.outputs.count == (isAllowed ? 2 : 1))
    }

    @Test func `what was kept is told with all that is known of it, and is saved or discarded`() async throws {
        let fake = FakeLibrary()
        let id = String(repeating: "a", count: 32)
        var recording = KeptRecording()
        recording.id = id
        recording.name = "clip.mkv"
        recording.size = 7
        recording.started = 5
        recording.program = "exe:/test"
        recording.album = "Trip"
        recording.reason = "full"
        fake.keep([recording])
        let (daemon, library) = try await fake.open()
        let kept = try #require(try await library.keptRecordings().first)
        #expect(kept == recording)
        let saved = try #require(try await library.saveKept([id]).first)
        #expect(saved.id == id)
        #expect(try saved.result.get().album == "Trip")
        #expect(try await library.asset(try #require(saved.result.get().asset)).name == "clip.mkv")
        #expect(await code { try await library.discardKept([id]) } == .noSuchAsset)
        withExtendedLifetime(daemon) {}
    }
}
