import BusSupport
import CaptureBus
import CaptureCore
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit

@Suite(.timeLimit(.minutes(10)))
struct ConfirmTests {
    private static let request = ConfirmRequest(
        Question(
            cookie: "secret",
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            name: "Tool",
            detail: "runs /usr/bin/tool",
            processID: 42,
            secondsLeft: 60
        ),
        count: 7,
        names: ["a.jpg", "b\u{1B}[31m.jpg", "c.jpg", "d.jpg", "e.jpg", "f.jpg"]
    )

    private static let facts: [String: BusValue] = [
        "program": .string("exe:/usr/bin/tool"), "tier": .string("claimed"), "name": .string("Tool"),
        "detail": .string("runs /usr/bin/tool"), "pid": .uint32(42), "secondsLeft": .uint32(60),
        "inline": .bool(false), "action": .string("delete"), "count": .uint32(7),
        "names": .strings(request.names),
    ]

    private func confirm(_ daemon: FakeDaemon, _ facts: [String: BusValue] = facts) async throws {
        try await daemon.callAgent("Confirm", "secret", facts)
    }

    @Test(arguments: [true, false])
    func `an agent is asked and answers with the action's word`(isConfirmed: Bool) async throws {
        let daemon = try await FakeDaemon()
        let seen = Mutex<ConfirmRequest?>(nil)
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            confirm: { request in
                seen.withLock { $0 = request }
                return .confirmed(request.action, isConfirmed)
            },
            answer: { _ in .dismissed }
        )
        try await confirm(daemon)
        let values = await daemon.called("Answer").arguments
        #expect(values[0].text == "secret")
        #expect(values[1].properties == ["delete": .properties(["allowed": .bool(isConfirmed)])])
        #expect(seen.withLock { $0 } == ConfirmTests.request)
        withExtendedLifetime(agent) {}
    }

    @Test func `one that is closed is dismissed`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            confirm: { _ in .dismissed },
            answer: { _ in .dismissed }
        )
        try await confirm(daemon)
        #expect(await daemon.called("Dismiss").arguments[0].text == "secret")
        withExtendedLifetime(agent) {}
    }

    @Test(arguments: [
        ["action": BusValue.string("burn")], ["action": .string("")], ["count": .uint32(0)], ["count": .string("7")],
    ])
    func `what it does not understand it refuses, so that another is asked`(part: [String: BusValue]) async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(
            on: client,
            confirm: { _ in .dismissed },
            answer: { _ in .dismissed }
        )
        #expect(await code { try await confirm(daemon, ConfirmTests.facts.merging(part) { $1 }) } == .invalidArgument)
        withExtendedLifetime(agent) {}
    }

    @Test func `an agent for access alone refuses`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let agent = try await PromptAgent.register(on: client) { _ in .dismissed }
        #expect(await code { try await confirm(daemon) } == .nobodyToAsk)
        withExtendedLifetime(agent) {}
    }

    @Test func `the terminal shows who wants to delete what, harmless`() {
        let opening = ConfirmDialog(ConfirmTests.request, width: 200).opening
        for part in [
            "“Tool” wants to delete 7 items from the media library: a.jpg, b?[31m.jpg, c.jpg, d.jpg, e.jpg …",
            "Not verified: another program", "or no answer within 60 s",
            "restore them for some time",
        ] {
            #expect(opening.contains(part), "\(part)")
        }
        var one = ConfirmTests.request
        one.count = 1
        one.names = ["a.jpg"]
        #expect(ConfirmDialog(one).opening.contains("wants to delete 1 item from the media library: a.jpg\n"))
        #expect(ConfirmDialog(one).firstQuestion(hasEarlyKeys: true).contains("came too early"))
    }

    @Test(arguments: [
        (
            ConfirmedAction.save, "“Tool” wants to save 7 recordings into the media library: a.jpg",
            "A yes puts them into the library", "save 7 recordings?"
        ),
        (
            .erase, "“Tool” wants to erase 7 items in the media library's bin: a.jpg", "gone for good", "erase 7 items?"
        ),
        (
            .discard, "“Tool” wants to discard 7 recordings that were not saved: a.jpg", "gone for good",
            "discard 7 recordings?"
        ),
    ])
    func `of what is no deletion it says what becomes of it`(
        action: ConfirmedAction,
        sentence: String,
        outcome: String,
        question: String
    ) {
        var request = ConfirmTests.request
        request.action = action
        let dialog = ConfirmDialog(request, width: 200)
        #expect(dialog.opening.contains(sentence) && dialog.opening.contains(outcome), "\(dialog.opening)")
        #expect(dialog.firstQuestion(hasEarlyKeys: false).contains(question))
        let shown = DesktopPrompt.dialog(request)
        #expect(shown.grantLabel.lowercased() == action.rawValue)
        #expect(shown.title.contains("\(action.rawValue) 7 ") && shown.body.contains(outcome))
    }

    @Test(arguments: [
        ("y", PromptAnswer?.some(.confirmed(.delete, true))), ("Y", .confirmed(.delete, true)),
        ("yes\n", .confirmed(.delete, true)), ("n", .confirmed(.delete, false)), ("NO", .confirmed(.delete, false)),
        ("\u{4}", .dismissed), ("\u{3}", .dismissed), ("\u{1B}", .dismissed), ("", .dismissed),
        ("x", nil), ("yy", nil), ("y y", nil), ("say", nil), ("\u{1B}[A", nil), ("\u{1B}y", nil), ("\r", nil),
    ])
    func `keys on the terminal`(keys: String, answer: PromptAnswer?) {
        var dialog = ConfirmDialog(ConfirmTests.request)
        let steps = dialog.take(Array(keys.utf8))
        guard case .done(let given, _) = steps.first else {
            #expect(answer == nil && steps == [.ignored])
            return
        }
        #expect(given == answer)
    }

    private static let responses: [(UInt32, PromptAnswer)] = [
        (0, .confirmed(.delete, true)), (1, .confirmed(.delete, false)), (2, .dismissed),
    ]

    @Test(arguments: responses)
    func `the desktop shows it with a button for each`(response: UInt32, answer: PromptAnswer) async throws {
        let bus = try PrivateBus()
        let desktop = try await FakeDesktop(on: bus) { _ in (response, nil) }
        let nowhere = PortalFiles { $0 == "XDG_DESKTOP_PORTAL_DIR" ? "/nowhere" : nil }
        let prompt = try await DesktopPrompt.connect(to: bus.kind, nowhere) { _ in }
        #expect(await prompt.confirm(ConfirmTests.request) == answer)
        #expect(desktop.dialogs.map(\.title) == ["Let “Tool” delete 7 items from the media library?"])
    }

    @Test func `the desktop's texts say who, what, and make names harmless`() {
        var request = ConfirmTests.request
        request.names = ["<b>a.jpg</b>"]
        let dialog = DesktopPrompt.dialog(request)
        #expect([dialog.grantLabel, dialog.denyLabel] == ["Delete", "Don’t"])
        #expect(dialog.body.contains("“‹b›a.jpg‹/b›” …") && !dialog.body.contains("42"))
        #expect(dialog.subtitle.contains("Not verified"))
        #expect(dialog.choices.map(\.id) == ["details"])
        let whole = DesktopPrompt.dialog(request, .shown)
        #expect(whole.body.contains("Process: 42") && whole.body.contains("Program: "))
        #expect(whole.choices.isEmpty)
    }
}
