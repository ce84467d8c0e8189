import Authorization
import CaptureCore
import CaptureEngine
import Foundation
import TestSupport
import Testing

@Suite struct `A session in the history` {
    private func uses(_ bench: EngineBench) async throws -> [HistoryEntry] {
        try await bench.history.page(HistoryFilter(limit: 100)).filter { $0.kind == .use }.reversed()
    }

    @Test func `has an entry for each device while it runs, and how it ended`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        let open = try await uses(bench)
        #expect(open.map(\.service) == [.camera, .microphone])
        #expect(open.map(\.device) == ["fake:camera", "fake:microphone"])
        #expect(open.allSatisfy { $0.ended == nil && $0.session == id && $0.cause == "answer" && $0.user == 1000 })
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(try await uses(bench).map(\.outcome) == ["stopped", "stopped"])
    }

    @Test func `is interrupted, revoked or failed there as it is itself`() async throws {
        let unplugged = EngineBench()
        let first = try await unplugged.running()
        unplugged.machine.unplug(FakeMachine.camera.id)
        _ = await unplugged.watch.wait(first, for: .interrupted)
        #expect(Set(try await uses(unplugged).map(\.outcome)) == ["interrupted"])
        #expect(try await uses(unplugged).allSatisfy { $0.message.contains("went away") })

        let withdrawn = EngineBench()
        let second = try await withdrawn.running()
        _ = try await withdrawn.gate.reset(user: 1000, program: nil, service: .camera)
        _ = await withdrawn.watch.wait(second, for: .failed)
        #expect(Set(try await uses(withdrawn).map(\.outcome)) == ["revoked"])

        let broken = EngineBench()
        broken.machine.failStarting(CaptureError(.inputOutput, "the cable is loose"))
        let third = try await broken.running()
        _ = await broken.watch.wait(third, for: .failed)
        #expect(Set(try await uses(broken).map(\.outcome)) == ["failed"])
    }

    @Test func `ends with its consent's time, told why`() async throws {
        let bench = EngineBench()
        let client = ClientIdentity(program: "unit:a.service", tier: .service, user: 990, name: "a", detail: "a test")
        let caller = SessionClient(identity: client, connection: ":1.9") { () throws(CaptureError) in client }
        let id = try await bench.running(EngineBench.movie(), caller)
        // A test that is held up for two seconds names a time that is past, and tries again.
        while true {
            let soon = GrantLifetime.until(AnswerTime.now.wall + 2000)
            let (program, service) = (client.program, Service.microphone)
            let refusal = await code {
                try await bench.gate.set(
                    user: 0,
                    program: program,
                    service: service,
                    status: .authorized,
                    lifetime: soon
                )
            }
            guard let refusal else { break }
            try #require(refusal == .invalidArgument)
        }
        let end = await bench.watch.wait(id, for: .failed, .stopped)
        #expect(end.reason?.code == .revoked)
        #expect(end.reason?.message.contains("its end date has passed") == true)
        #expect(Set(try await uses(bench).map(\.outcome)) == ["revoked"])
    }

    @Test func `that was allowed this time takes the yes along when it ends`() async throws {
        let bench = EngineBench(prompter: ThisTime())
        let client = EngineBench.client()
        await bench.gate.connected([client.identity], revision: 1)
        let id = try await bench.running(EngineBench.buffer, client)
        #expect(await bench.state(of: id)?.state == .running)
        #expect(try await bench.gate.status(.camera, for: client.identity) == .authorized)
        try await bench.engine.stop(id, client: client)
        _ = await bench.watch.wait(id, for: .stopped)
        #expect(try await bench.gate.status(.camera, for: client.identity) == .notDetermined)
    }

    @Test func `that is refused after the yes for this time takes it along, too`() async throws {
        let bench = EngineBench(prompter: ThisTime())
        var client = EngineBench.client()
        client.identifyAtStart = { () throws(CaptureError) in
            throw CaptureError(.notPermitted, "process 7 (/bin/evil) has its connection, too")
        }
        await bench.gate.connected([client.identity], revision: 1)
        let id = try await bench.running(EngineBench.buffer, client)
        #expect(await bench.watch.wait(id, for: .failed, .running).reason?.code == .notPermitted)
        #expect(try await bench.gate.status(.camera, for: client.identity) == .notDetermined)
    }

    @Test func `is not there when nothing was opened`() async throws {
        let bench = EngineBench(answer: { request in
            Dictionary(uniqueKeysWithValues: request.services.map { ($0, false) })
        })
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .failed)
        #expect(try await uses(bench).isEmpty)
    }

    @Test func `is refused before anybody is asked when there can be none`() async throws {
        let folder = NSTemporaryDirectory() + "history-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: folder + "/" + HistoryStore.fileName))
        let bench = EngineBench(
            history: HistoryStore(directory: folder),
            answer: { _ throws(CaptureError) in
                Issue.record("a person was asked in vain")
                throw CaptureError(.dismissed, "closed")
            }
        )
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .failed, .running)
        #expect(end.reason?.code == .inputOutput)
        #expect(end.reason?.message.contains("history") == true)
        #expect(bench.machine.log.isEmpty)
    }

    @Test func `streams nothing when its use cannot be recorded after all`() async throws {
        let folder = NSTemporaryDirectory() + "history-\(UUID().uuidString)"
        let bench = EngineBench(
            history: HistoryStore(directory: folder),
            answer: { request in
                // Between the question and the start, somebody opens the history to others.
                try? FileManager.default.setAttributes(
                    [.posixPermissions: 0o644],
                    ofItemAtPath: folder + "/" + HistoryStore.fileName
                )
                return Dictionary(uniqueKeysWithValues: request.services.map { ($0, true) })
            }
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .failed, .running)
        #expect(end.reason?.code == .inputOutput)
        #expect(!bench.machine.log.contains { $0.hasPrefix("start") })
        #expect(Set(bench.machine.log.filter { $0.hasPrefix("close") }).count == 2)
        #expect(bench.recorders.recorder("movie") == nil)
    }

    @Test func `has an input that is added and one that is taken away`() async throws {
        let bench = EngineBench()
        let camera = SessionDescription.of("camera", "movie", .movie, "mkv")
        let id = try await bench.running(camera)
        _ = try await bench.gate.requestAccess([.microphone], for: EngineBench.client().requester)
        let both = camera.with("sound", .sound, "wav", of: "microphone")
        try await bench.engine.configure(id, both, files: ["sound": FakeFile()], client: EngineBench.client())
        #expect(try await uses(bench).map(\.service) == [.camera, .microphone])
        try await bench.engine.configure(id, camera, files: [:], client: EngineBench.client())
        #expect(try await uses(bench).map(\.outcome) == ["", "stopped"])
    }
}
