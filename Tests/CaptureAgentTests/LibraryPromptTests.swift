import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureAgent
@testable import CaptureKit

/// The question about the media library in a terminal, in the desktop's dialog, and as it goes over the bus.
/// A yes for chosen assets.
private let limited = PersonsAnswer(true, isLimited: true)

@Suite(.timeLimit(.minutes(10)))
struct LibraryPromptTests {
    private static func request(_ services: [AuthorizationService]) -> PromptRequest {
        var request = PromptRequest(
            Question(
                cookie: "c",
                program: "flatpak:org.example.Album",
                tier: "sandboxed",
                name: "Album"
            ),
            services: services.sorted(),
            reasons: [.libraryAdd: "to keep what you draw", .libraryReadWrite: "to sort your pictures"]
        )
        request.limitable = [.libraryReadWrite]
        return request
    }

    private static let both: [AuthorizationService] = [.libraryAdd, .libraryReadWrite]

    // MARK: A terminal

    private func outcome(_ services: [AuthorizationService], _ keys: String) -> PromptAnswer? {
        var dialog = PromptDialog(Self.request(services))
        return dialog.take(Array(keys.utf8)).lazy.compactMap { step -> PromptAnswer? in
            if case .done(let answer, _) = step { answer } else { nil }
        }.first
    }

    @Test func `a terminal offers everything, chosen assets and nothing of reading`() {
        let reading = [AuthorizationService.libraryReadWrite]
        #expect(outcome(reading, "y") == .answered([.libraryReadWrite: true]))
        #expect(outcome(reading, "S\n") == .answered([.libraryReadWrite: limited]))
        #expect(outcome(reading, "n") == .answered([.libraryReadWrite: false]))
        #expect(outcome(reading, "\u{4}") == .dismissed)
        let dialog = PromptDialog(Self.request(reading))
        #expect(dialog.opening.contains("“Album” wants to read and change the media library"))
        #expect(dialog.opening.contains("  It says: “to sort your pictures”"))
        #expect(
            dialog.firstQuestion(hasEarlyKeys: false) == """
                  allow reading and changing the media library? [y yes, all of it,
                    s only chosen items and its own, n no, d details]\u{20}
                """
        )
    }

    @Test func `a terminal offers yes and no of adding`() {
        #expect(outcome([.libraryAdd], "y") == .answered([.libraryAdd: true]))
        #expect(outcome([.libraryAdd], "n") == .answered([.libraryAdd: false]))
        #expect(outcome([.libraryAdd], "s") == nil)
        let dialog = PromptDialog(Self.request([.libraryAdd]))
        #expect(
            dialog.firstQuestion(hasEarlyKeys: false)
                == "  allow adding to the media library? [y yes, n no, d details] "
        )
    }

    @Test func `of both a terminal asks about reading first, and about adding where that is a no`() {
        #expect(outcome(Self.both, "y") == .answered([.libraryReadWrite: true]))
        #expect(outcome(Self.both, "s") == .answered([.libraryReadWrite: limited]))
        #expect(outcome(Self.both, "ny") == .answered([.libraryReadWrite: false, .libraryAdd: true]))
        #expect(outcome(Self.both, "nn") == .answered([.libraryReadWrite: false, .libraryAdd: false]))
        // Not an answer about adding, for which there is none.
        #expect(outcome(Self.both, "ns") == nil)
    }

    @Test func `a daemon that takes no such answer is given none`() {
        var request = Self.request([.libraryReadWrite])
        request.limitable = []
        var dialog = PromptDialog(request)
        #expect(dialog.take(Array("s".utf8)) == [.ignored])
        #expect(DesktopDialog(request).access.choices.map(\.id) == ["details"])
        #expect(DesktopDialog(request).answer(.granted([:])) == .answered([.libraryReadWrite: true]))
    }

    // MARK: A desktop

    @Test func `the desktop's dialog offers how much may be read, the least first`() {
        let one = DesktopDialog(Self.request([.libraryReadWrite]))
        #expect(one.access.title == "Allow “Album” to read and change the media library?")
        let row = one.access.choices.first
        #expect(row?.options.map(\.id) == ["limited", "all"] && row?.initial == "limited")
        #expect(one.answer(.granted(["library-read-write": "all"])) == .answered([.libraryReadWrite: true]))
        #expect(
            one.answer(.granted(["library-read-write": "limited"])) == .answered([.libraryReadWrite: limited])
        )
        #expect(one.answer(.denied) == .answered([.libraryReadWrite: false]))
        #expect(one.answer(.closed) == .dismissed)
        #expect(one.answer(.granted(["library-read-write": "true"])) == .dismissed)
    }

    @Test func `both levels are one dialog of two rows, answered apart`() {
        let dialog = DesktopDialog(Self.request(Self.both))
        #expect(dialog.access.title == "Allow “Album” to add to, read and change the media library?")
        #expect(dialog.access.choices.map(\.id) == ["library-read-write", "library-add", "details"])
        #expect(dialog.access.choices.first?.options.map(\.id) == ["limited", "all", "none"])
        func answer(_ reading: String, _ adding: String) -> PromptAnswer? {
            dialog.answer(.granted(["library-read-write": reading, "library-add": adding]))
        }
        #expect(answer("none", "true") == .answered([.libraryReadWrite: false, .libraryAdd: true]))
        #expect(answer("none", "false") == .answered([.libraryReadWrite: false, .libraryAdd: false]))
        #expect(answer("all", "true") == .answered([.libraryReadWrite: true, .libraryAdd: true]))
        // Who may read may add: that is no "no".
        #expect(answer("limited", "false") == .answered([.libraryReadWrite: limited]))
    }

    @Test func `a yes for chosen assets can be for a shorter time`() {
        var request = Self.request([.libraryReadWrite])
        request.lifetimes = ["always", "session"]
        let chosen = ["library-read-write": "limited", "lifetime": "session"]
        #expect(
            DesktopDialog(request).answer(.granted(chosen))
                == .answered([.libraryReadWrite: PersonsAnswer(true, isLimited: true, lifetime: .session)])
        )
    }

    /// Asks on a desktop that shows no rows, where the person presses what is told by the titles.
    private func ask(
        _ services: [AuthorizationService],
        _ person: @escaping FakeDesktop.Person
    ) async throws -> (answer: PromptAnswer, titles: [String]) {
        let bus = try PrivateBus()
        let desktop = try await FakeDesktop(on: bus, person)
        let none = PortalFiles { $0 == "XDG_DESKTOP_PORTAL_DIR" ? "/nowhere" : nil }
        let prompt = try await DesktopPrompt.connect(to: bus.kind, none) { _ in }
        let answer = await prompt.ask(Self.request(services))
        return (answer, desktop.dialogs.map(\.title))
    }

    private static let extent = "Let “Album” see the whole media library?"
    private static let some = "Let “Album” see only what you choose?"

    @Test(arguments: [(0, true), (1, limited)] as [(UInt32, PersonsAnswer)])
    func `a desktop without rows is asked how much in dialogs of its own`(press: UInt32, choice: PersonsAnswer)
        async throws
    {
        let (answer, titles) = try await ask([.libraryReadWrite]) { dialog in
            (dialog.title == Self.extent ? press : 0, nil)
        }
        #expect(answer == .answered([.libraryReadWrite: choice]))
        let first = ["Allow “Album” to read and change the media library?", Self.extent]
        #expect(titles == first + (press == 0 ? [] : [Self.some]))
    }

    @Test(arguments: [1, 2] as [UInt32]) func `there, backing out allows nothing`(press: UInt32) async throws {
        let (answer, _) = try await ask([.libraryReadWrite]) { dialog in
            (dialog.title == Self.extent ? 1 : dialog.title == Self.some ? press : 0, nil)
        }
        #expect(answer == .dismissed)
    }

    @Test func `there, one that is closed leaves nothing answered`() async throws {
        let (answer, _) = try await ask([.libraryReadWrite]) { dialog in (dialog.title == Self.extent ? 2 : 0, nil) }
        #expect(answer == .dismissed)
    }

    @Test func `there, adding is asked about where reading is refused, and not else`() async throws {
        let (answer, titles) = try await ask(Self.both) { dialog in
            (dialog.title.contains("to read and change") ? 1 : 0, nil)
        }
        #expect(answer == .answered([.libraryReadWrite: false, .libraryAdd: true]))
        #expect(titles.count == 3)
        let (other, fewer) = try await ask(Self.both) { dialog in (dialog.title == Self.extent ? 1 : 0, nil) }
        #expect(other == .answered([.libraryReadWrite: limited]))
        #expect(fewer.count == 4 && fewer.last == Self.some)
    }

    // MARK: The bus

    @Test func `an agent is told what may be limited, and its answer says so`() async throws {
        let daemon = try await FakeDaemon()
        let agent = try await PromptAgent.register(on: try await daemon.client()) { request in
            request.limitable == [.libraryReadWrite]
                ? .answered([.libraryReadWrite: PersonsAnswer(true, isLimited: true, lifetime: .session)]) : .dismissed
        }
        try await daemon.callAgent(
            "Ask",
            "secret",
            [
                "program": .string("exe:/a"), "services": .strings(["library-read-write", "library-add"]),
                "limitable": .strings(["library-read-write"]), "lifetimes": .strings(["always", "session"]),
            ]
        )
        let answer = await daemon.called("Answer").arguments
        #expect(
            answer[1].properties?["library-read-write"]?.properties == [
                "allowed": .bool(true), "limited": .bool(true), "lifetime": .string("session"),
            ]
        )
        try await agent.unregister()
    }

    @Test func `a program asks how it stands by level, and without one`() async throws {
        let statuses: [String: UInt32] = ["library": 3, "library-add": 4, "library-read-write": 4]
        let daemon = try await FakeDaemon([
            "GetStatus": { _, call in [.uint32(statuses[call.arguments[0].text ?? ""] ?? 0)] }
        ])
        let panel = AuthorizationPanel(on: try await daemon.client())
        #expect(try await panel.libraryStatus() == .authorized)
        #expect(try await panel.libraryStatus(.addOnly) == .limited)
        #expect(try await panel.libraryStatus(.readWrite) == .limited)
        try await panel.set("exe:/a", library: .addOnly)
        let plain = daemon.calls("Set").first?.arguments
        #expect(plain?.prefix(4).map(\.text) == ["", "exe:/a", "library", "add-only"])
        #expect(plain?[4].properties == [:])
        try await panel.set("exe:/a", library: .limited, until: 5000)
        _ = try? await panel.resetLibrary(program: "exe:/a")
        #expect(daemon.calls("Reset").first?.arguments.map(\.text) == ["", "exe:/a", "library"])
        let dated = daemon.calls("Set").last?.arguments
        #expect(daemon.calls("Set").count == 2)
        #expect(dated?[3].text == "limited" && dated?[4].properties == ["until": .int64(5000)])
    }
}
