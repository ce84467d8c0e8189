import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit

/// Picking as it goes over the bus: of an agent, and of a program.
@Suite(.timeLimit(.minutes(10)))
struct PickingTests {
    private static let facts: [String: BusValue] = [
        "program": .string("exe:/usr/bin/tool"), "tier": .string("claimed"), "name": .string("Tool"),
        "detail": .string("runs it"), "pid": .uint32(42), "secondsLeft": .uint32(60), "inline": .bool(false),
        "purpose": .string("extend"), "subject": .string("exe:/usr/bin/tool"), "kinds": .strings(["photo"]),
        "limit": .uint32(7),
    ]

    private static let request = PickRequest(
        Question(
            cookie: "secret",
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            name: "Tool",
            detail: "runs it",
            processID: 42,
            secondsLeft: 60
        ),
        purpose: .extend,
        kinds: [.photo],
        limit: 7
    )

    private func pick(_ daemon: FakeDaemon, _ facts: [String: BusValue] = facts) async throws {
        try await daemon.callAgent("Pick", "secret", facts)
    }

    @Test func `an agent browses by its question and answers with what was picked`() async throws {
        let asset: [String: BusValue] = [
            "id": .string("a1"), "kind": .string("photo"), "name": .string("a.jpg"), "chosen": .bool(true),
        ]
        let daemon = try await FakeDaemon([
            "BrowseFor": { _, call in
                call.arguments[1].properties?["page"] == nil
                    ? [.propertyList([asset]), .string("p2")] : [.propertyList([]), .string("")]
            },
            "ThumbnailFor": { _, _ throws(CaptureError) in [.descriptor(try FakeLibrary.file(Array("JPEG".utf8)))]
            },
        ])
        let seen = Mutex<PickRequest?>(nil)
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            pick: { request, browser in
                {
                    seen.withLock { $0 = request }
                    var ids: [String] = []
                    do throws(CaptureError) {
                        let page = try await browser.page()
                        ids += page.assets.map { "\($0.id) \($0.isChosen) \(page.next ?? "")" }
                        ids += [try await browser.page(page: "p2").next ?? "end"]
                        _ = try await browser.thumbnail(of: "a1", size: .medium)
                    } catch {
                        ids.append(error.message)
                    }
                    return .picked(PickedAssets(ids, dropped: ["d1"]))
                }
            },
            answer: { _ in .dismissed }
        )
        try await pick(daemon)
        let values = await daemon.called("AnswerPicked").arguments
        #expect(values[0].text == "secret" && values[2].texts == ["d1"])
        #expect(values[1].texts == ["a1 true p2", "end"])
        #expect(seen.withLock { $0 } == PickingTests.request)
        #expect(daemon.calls("BrowseFor").allSatisfy { $0.arguments[0].text == "secret" })
        #expect(daemon.calls("ThumbnailFor").first?.arguments.map(\.text) == ["secret", "a1", "medium"])
        withExtendedLifetime(agent) {}
    }

    @Test(arguments: [
        ["purpose": BusValue.string("burn")], ["purpose": .string("")], ["limit": .uint32(0)], ["limit": .string("7")],
    ])
    func `what it does not understand it refuses, so that another is asked`(part: [String: BusValue]) async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            pick: { _, _ in { .dismissed } },
            answer: { _ in .dismissed }
        )
        #expect(await code { try await pick(daemon, PickingTests.facts.merging(part) { $1 }) } == .invalidArgument)
        withExtendedLifetime(agent) {}
    }

    @Test func `an agent that cannot have anything picked now refuses, and may be asked again`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            pick: { _, _ throws(CaptureError) in throw CaptureError(.nobodyToAsk, "there is no screen") },
            answer: { _ in .dismissed }
        )
        for _ in 1...2 {
            let error = await #expect(throws: CaptureError.self) { try await pick(daemon) }
            #expect(error?.code == .nobodyToAsk && error?.message.contains("no screen") == true)
        }
        withExtendedLifetime(agent) {}
    }

    @Test func `an agent that shows no library refuses, and an answer that is refused is taken back`() async throws {
        let tooMany: FakeDaemon.Answer = { _, _ throws(CaptureError) in
            throw CaptureError(.invalidArgument, "too many")
        }
        let daemon = try await FakeDaemon(["AnswerPicked": tooMany])
        let client = try await daemon.client()
        var agent = try await PromptAgent.register(on: client) { _ in .dismissed }
        #expect(await code { try await pick(daemon) } == .nobodyToAsk)
        try await agent.unregister()
        agent = try await PromptAgent.register(
            on: client,
            pick: { _, _ in { .picked(PickedAssets(["a"])) } },
            answer: { _ in .dismissed }
        )
        try await pick(daemon)
        #expect(await daemon.called("Dismiss").arguments[0].text == "secret")
        withExtendedLifetime(agent) {}
    }

    @Test func `a program is handed what was picked and opens it`() async throws {
        let fake = FakeLibrary([.readWrite: .denied])
        fake.put("a.jpg", "PHOTO a")
        let sound = fake.put("b.flac", "SOUND bb")
        fake.picks([sound])
        let (daemon, library) = try await fake.open()
        let picked = try await library.pick([.sound], limit: 5)
        #expect(picked.map(\.name) == ["b.flac"] && picked.map(\.kind) == [.sound] && picked.map(\.size) == [8])
        #expect(FakeLibrary.text(of: try await picked[0].open()) == "SOUND bb")
        #expect(
            daemon.calls("Pick").first?.arguments[0].properties == ["kinds": .strings(["sound"]), "limit": .int64(5)]
        )
        fake.picks(nil)
        #expect(await code { try await library.pick() } == .dismissed)
    }

    @Test func `a limited program is told what was newly chosen`() async throws {
        let fake = FakeLibrary([.readWrite: .limited])
        let ids = ["a", "b"].map { fake.put($0, "PHOTO", ["program": .string("exe:/other")]) }
        fake.choose([ids[0]])
        fake.picks(ids)
        let (daemon, library) = try await fake.open()
        #expect(try await library.presentLimitedLibraryPicker() == [ids[1]])
        let (chosen, dropped) = try await library.chooseAssets(for: "exe:/other")
        #expect(chosen == 2 && dropped == 0)
        fake.setStatus(.readWrite, .authorized)
        #expect(await code { try await library.presentLimitedLibraryPicker() } == .wrongState)
        withExtendedLifetime(daemon) {}
    }
}
