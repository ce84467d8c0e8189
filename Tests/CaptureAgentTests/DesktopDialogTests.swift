import CaptureBus
import Testing

@testable import CaptureAgent
@testable import CaptureKit

struct DesktopDialogTests {
    private let request = PromptRequest(
        Question(
            cookie: "c",
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            name: "Tool",
            detail: "the unit app-tool.scope; runs /usr/bin/tool",
            processID: 42
        ),
        services: [.camera, .microphone],
        reasons: [.camera: "to record what you ask for", .microphone: "to record sound"]
    )

    private func text(_ dialog: AccessDialog) -> String {
        [dialog.title, dialog.subtitle, dialog.body].joined(separator: "\n")
    }

    @Test func `the dialog says how a program came that gives no reason`() {
        var request = request
        (request.reasons, request.bridge) = ([:], .pulse)
        let text = text(DesktopDialog(request).access)
        #expect(text.contains("It gives no reason for the camera."))
        #expect(text.contains("A yes covers every program that uses PulseAudio."))
        request.bridge = .pipewire
        let other = self.text(DesktopDialog(request).access)
        #expect(other.contains("It was not written for captured, and comes through PipeWire."))
    }

    @Test func `the dialog shows who asks, how sure that is, what for, and that the reasons are the program's words`() {
        let dialog = DesktopDialog(request).access
        #expect(dialog.title == "Allow “Tool” to use the camera and the microphone?")
        for part in [
            "Not verified: another program of your account could pretend to be this one.",
            "Its reason for the camera, in its own words: “to record what you ask for”",
            "Its reason for the microphone, in its own words: “to record sound”",
        ] {
            #expect(text(dialog).contains(part), "\(part)")
        }
        #expect(!text(dialog).contains("app-tool.scope") && !text(dialog).contains("42"))
        #expect(dialog.choices.map(\.label) == ["Camera", "Microphone", "Show details, and ask again"])
        let whole = DesktopDialog(request, details: .shown).access
        for part in ["Program: exe:/usr/bin/tool", "the unit app-tool.scope", "Process: 42"] {
            #expect(text(whole).contains(part), "\(part)")
        }
        #expect(whole.choices.map(\.label) == ["Camera", "Microphone"])
        #expect([dialog.denyLabel, dialog.grantLabel] == ["Do Not Allow", "Allow What Is Ticked"])
    }

    @Test func `for one service there is nothing to tick, and nothing is said of the other`() {
        let dialog = DesktopDialog(request, [.microphone]).access
        #expect(dialog.title == "Allow “Tool” to use the microphone?")
        #expect(dialog.choices.map(\.id) == ["details"] && dialog.grantLabel == "Allow")
        #expect(!text(dialog).contains("camera"))
    }

    @Test(arguments: [
        "100%s%n", "<b>Camera</b> & co", "Tool” to use nothing. “", "a\nb\u{1B}[31m", "\u{202E}elttil", "a\u{200B}b",
    ])
    func `what a program says of itself cannot draw, close its quotes or be a format`(name: String) {
        var request = request
        request.question.name = name
        request.question.program = "exe:/tmp/" + name
        request.reasons = [.camera: name, .microphone: name]
        request.question.detail = name
        let dialog = DesktopDialog(request).access
        for scalar in text(dialog).unicodeScalars where !"\n“”".unicodeScalars.contains(scalar) {
            #expect(!"%<>&\u{1B}\u{202E}\u{200B}".unicodeScalars.contains(scalar), "\(scalar)")
        }
        #expect(!dialog.title.contains("\n") && !dialog.subtitle.contains("\n"))
        #expect(dialog.title.count { $0 == "“" } == 1 && dialog.title.count { $0 == "”" } == 1)
        #expect(dialog.body.count { $0 == "“" } == 2 && dialog.body.count { $0 == "”" } == 2)
    }

    @Test func `a long text is cut, and a long word can be broken`() {
        let long = DesktopDialog.data(String(repeating: "x", count: 1000), limit: 100)
        #expect(long.unicodeScalars.count { $0 == "x" } == 100 && long.hasSuffix("…"))
        #expect(long.split(separator: "\u{200B}").allSatisfy { $0.count <= 24 })
    }

    @Test func `what is not ticked is not allowed, and unknown rows count for nothing`() {
        let dialog = DesktopDialog(request)
        #expect(
            dialog.answer(.granted(["camera": "false", "microphone": "false", "library-add": "true"]))
                == .answered([.camera: false, .microphone: false])
        )
        #expect(dialog.answer(.granted(["camera": "true"])) == nil)
        #expect(dialog.answer(.granted([:])) == nil)
    }

    @Test func `a yes can be for a shorter time, where the daemon takes that`() {
        var request = request
        #expect(!DesktopDialog(request).access.choices.contains { $0.id == "lifetime" })
        request.lifetimes = ["always", "until", "connection", "session"]
        let dialog = DesktopDialog(request)
        let row = dialog.access.choices.dropLast().last
        #expect(row?.options.map(\.id) == ["session", "connection", "always"] && row?.initial == "always")
        let chosen = ["camera": "true", "microphone": "false"]
        #expect(
            dialog.answer(.granted(chosen.merging(["lifetime": "session"]) { $1 }))
                == .answered([.camera: PersonsAnswer(true, lifetime: .session), .microphone: false])
        )
        for plain in [chosen, chosen.merging(["lifetime": "always"]) { $1 }] {
            #expect(dialog.answer(.granted(plain)) == .answered([.camera: true, .microphone: false]))
        }
        let one = DesktopDialog(request, [.camera])
        #expect(one.access.choices.map(\.id) == ["lifetime", "details"])
        #expect(
            one.answer(.granted(["lifetime": "connection"]))
                == .answered([.camera: PersonsAnswer(true, lifetime: .connection)])
        )
        #expect(one.answer(.granted([:])) == .answered([.camera: true]))
    }

    @Test(arguments: ["until", "for ever", ""])
    func `a time that was not offered is no answer`(word: String) {
        var request = request
        request.lifetimes = ["session"]
        #expect(DesktopDialog(request, [.camera]).answer(.granted(["lifetime": word])) == .dismissed)
    }
}
