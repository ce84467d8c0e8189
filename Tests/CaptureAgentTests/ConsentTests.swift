import BusSupport
import CaptureBus
@testable import CaptureAgent
import CaptureKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConsentTests {
    private static func request(_ services: String...) -> [String: BusValue] {
        [
            "program": .string("exe:/usr/bin/tool"), "tier": .string("claimed"), "name": .string("Tool"),
            "services": .strings(services),
            "reasons": .dictionary("ss", [BusEntry(.string("camera"), .string("to see you"))]),
            "pid": .uint32(99), "secondsLeft": .uint32(60), "inline": .bool(false),
        ]
    }

    @Test func `an agent is asked and answers with the cookie, row by row`() async throws {
        let daemon = try await FakeDaemon()
        let seen = Mutex<PromptRequest?>(nil)
        let agent = try await PromptAgent.register(on: try await daemon.client()) { request in
            seen.withLock { $0 = request }
            return .answered([.camera: true, .microphone: false])
        }
        try await daemon.callAgent("Ask", "secret", ConsentTests.request("microphone", "camera"))
        let answer = await daemon.called("Answer").arguments
        #expect(answer[0].text == "secret")
        #expect(
            answer[1].properties == [
                "camera": .properties(["allowed": .bool(true)]), "microphone": .properties(["allowed": .bool(false)]),
            ]
        )
        let request = try #require(seen.withLock { $0 })
        #expect(request.services == [.camera, .microphone])
        #expect(request.reasons == [.camera: "to see you"])
        #expect(request.question.processID == 99)
        try await agent.unregister()
        #expect(daemon.calls("UnregisterAgent").count == 1)
    }

    @Test func `what may take a person's password is waited for longer than 10 s`() async throws {
        let typing: FakeDaemon.Answer = { _, call in
            try? await Task.sleep(for: .milliseconds(10_500))
            return call.member == "Reset" ? [.uint32(1)] : []
        }
        let daemon = try await FakeDaemon(["Set": typing, "Reset": typing, "SetSwitch": typing])
        let panel = AuthorizationPanel(on: try await daemon.client())
        async let set: Void = panel.set("exe:/a", .camera, isAllowed: true)
        async let setUntil: Void = panel.set("exe:/a", .camera, isAllowed: true, until: 4_102_444_800_000)
        async let reset = panel.reset(program: "exe:/a")
        async let turned: Void = panel.setSwitch(.camera, isOn: true)
        _ = try await (set, setUntil, turned)
        #expect(try await reset == 1)
        #expect(daemon.calls("Set").count == 2)
    }

    @Test func `a question that nobody answered is dismissed`() async throws {
        let daemon = try await FakeDaemon()
        let agent = try await PromptAgent.register(on: try await daemon.client()) { _ in .dismissed }
        try await daemon.callAgent("Ask", "c", ConsentTests.request("camera"))
        #expect(await daemon.called("Dismiss").arguments[0].text == "c")
        withExtendedLifetime(agent) {}
    }

    @Test func `a question that is withdrawn is cancelled and not answered`() async throws {
        let (events, feed) = AsyncStream<String>.makeStream()
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(on: client) { _ in
            feed.yield("asked")
            let (never, end) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(end) {}
            feed.yield("withdrawn")
            return .withdrawn
        }
        try await daemon.callAgent("Ask", "c", ConsentTests.request("camera"))
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == "asked")
        try await daemon.callAgent("Cancel", "c")
        #expect(await iterator.next() == "withdrawn")
        #expect(daemon.calls("Answer").isEmpty && daemon.calls("Dismiss").isEmpty)
        withExtendedLifetime(agent) {}
    }

    @Test func `questions of anyone but the daemon are refused`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(on: client) { _ in .answered([.camera: true]) }
        let stranger = try await daemon.bus.connect()
        let error = await #expect(throws: CaptureError.self) {
            try await daemon.callAgent("Ask", "c", ConsentTests.request("camera"), over: stranger)
        }
        #expect(error?.code == .notPermitted)
        withExtendedLifetime(agent) {}
    }

    @Test func `a request for access waits for the decision with its own number`() async throws {
        let daemon = try await FakeDaemon([
            "RequestAccess": { daemon, call throws(CaptureError) in
                try daemon.decide(4, "", "sentence", ["camera": 3], to: call.sender)
                try daemon.decide(5, "Denied", "sentence", ["camera": 2], to: call.sender)
                return [.uint32(5)]
            }
        ])
        let client = try await daemon.client()
        #expect(try await CaptureDevice.requestAccess(for: [.video], on: client) == [.video: .denied])
        #expect(try await !CaptureDevice.requestAccess(for: .video, on: client))
        withExtendedLifetime(daemon) {}
    }

    @Test(arguments: [("Dismissed", ["camera": 0]), ("NobodyToAsk", [:])] as [(String, [String: UInt32])])
    func `a request without an answer is an error`(code: String, statuses: [String: UInt32]) async throws {
        let decided: FakeDaemon.Answer = { daemon, call throws(CaptureError) in
            try daemon.decide(1, code, "sentence", statuses, to: call.sender)
            return [.uint32(1)]
        }
        let daemon = try await FakeDaemon(["RequestAccess": decided])
        let client = try await daemon.client()
        let error = await #expect(throws: CaptureError.self) {
            try await CaptureDevice.requestAccess(for: [.video, .audio], on: client)
        }
        #expect(error == CaptureError(.init(rawValue: code), "sentence"))
        withExtendedLifetime(daemon) {}
    }

    @Test func `a request that is decided already waits for no signal`() async throws {
        let daemon = try await FakeDaemon(["RequestAccess": { _, _ in [.uint32(0)] }])
        let client = try await daemon.client()
        #expect(try await CaptureDevice.requestAccess(for: [.video], on: client) == [.video: .authorized])
        #expect(try await CaptureDevice.requestAccess(for: .video, on: client))
        withExtendedLifetime(daemon) {}
    }

    @Test func `an explanation is read with everything in it, and a malformed one is told`() async throws {
        let daemon = try await FakeDaemon([
            "Explain": { _, call in
                var row: [String: BusValue] = [
                    "program": call.arguments[1], "tier": .string("claimed"), "service": .string("camera"),
                    "status": .string("restricted"), "decides": .string("policy"), "policy": .string("restrict"),
                    "policy-source": .string("/a.conf:4"), "policy-fault": .string(""),
                    "policy-possible": .strings(["/b.conf:1 says restrict"]), "stored": .string("authorized"),
                    "reason": .string("answer"), "time": .int64(1_700_000_000_123), "start": .string("refused"),
                    "exit-code": .uint32(77), "asks": .string(""), "message": .string("policy forbids it"),
                ]
                if call.arguments[0].text == "bob" { row["start"] = .string("guesses") }
                return [.propertyList([row])]
            }
        ])
        let panel = AuthorizationPanel(on: try await daemon.client())
        let found = try #require(try await panel.explain("exe:/a", [.camera], user: "ann").first)
        #expect(found.program == "exe:/a")
        #expect(found.status == .restricted)
        #expect(found.stored == .authorized)
        #expect(found.policySource == "/a.conf:4")
        #expect(found.possibleRules == ["/b.conf:1 says restrict"])
        #expect(found.time == 1_700_000_000)
        #expect(found.start == .refused)
        #expect(found.exitCode == 77)
        let call = try #require(daemon.calls("Explain").first)
        #expect(call.arguments[0].text == "ann")
        #expect(call.arguments[2].texts == ["camera"])
        let error = await #expect(throws: CaptureError.self) { try await panel.explain("exe:/a", user: "bob") }
        #expect(error?.code == .badData || error?.code == .internalFault)
    }

    @Test func `stored answers are read with everything that is known of them`() async throws {
        let daemon = try await FakeDaemon([
            "List": { _, _ in
                [
                    .propertyList([
                        [
                            "user": .string("ann"), "program": .string("exe:/a"), "service": .string("camera"),
                            "status": .string("denied"), "tier": .string("claimed"), "reason": .string("user"),
                            "time": .int64(1_700_000_000_123), "detail": .string("d"),
                            "executable": .string("/a"), "device": .uint64(5), "inode": .uint64(.max),
                            "isProtected": .bool(true),
                        ]
                    ])
                ]
            }
        ])
        let panel = AuthorizationPanel(on: try await daemon.client())
        let entry = try #require(try await panel.entries().first)
        #expect(entry.status == .denied)
        #expect(entry.time == 1_700_000_000)
        #expect(entry.detail == "d")
        #expect(entry.file?.path == "/a")
        #expect(entry.file?.device == 5)
        #expect(entry.file?.inode == .max)
        #expect(entry.file?.isProtected == true)
        #expect(entry.file?.changed == nil)
        withExtendedLifetime(daemon) {}
    }

    @Test func `what a program says why it captures goes to the daemon by service`() async throws {
        let daemon = try await FakeDaemon()
        try await daemon.client().setUsageDescriptions([.microphone: "Listens", .camera: "Reads a gauge"])
        #expect(
            daemon.calls("SetUsageDescriptions").first?.arguments == [
                .dictionary(
                    "ss",
                    [
                        BusEntry(.string("camera"), .string("Reads a gauge")),
                        BusEntry(.string("microphone"), .string("Listens")),
                    ]
                )
            ]
        )
    }

    @Test func `an identity is read with its parts, and by pid unless the daemon says otherwise`() async throws {
        let facts: [String: BusValue] = [
            "program": .string("flatpak:org.a.B"), "tier": .string("sandboxed"), "user": .string("ann"),
            "uid": .uint32(1000), "pid": .uint32(7), "detail": .string("d"),
            "unit": .string("app-flatpak-org.a.B-1.scope"), "session": .string(""),
            "sandbox": .string("Flatpak instance 1"), "label": .string(""), "executable": .string("/usr/bin/x"),
            "device": .uint64(5), "inode": .uint64(6), "isProtected": .bool(false), "changed": .int64(7),
        ]
        let daemon = try await FakeDaemon(["WhoAmI": { _, _ in [.properties(facts)] }])
        let identity = try await AuthorizationPanel(on: try await daemon.client()).whoAmI()
        #expect(identity.isByPid)
        #expect(identity.unit == "app-flatpak-org.a.B-1.scope")
        #expect(identity.session == nil)
        #expect(identity.sandbox == "Flatpak instance 1")
        #expect(identity.label == nil)
        #expect(identity.file?.inode == 6)
        #expect(identity.file?.changed == 7)
        withExtendedLifetime(daemon) {}
    }
}
