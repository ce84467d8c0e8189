@testable import CaptureAgent
import CaptureKit
import Testing

struct PromptDialogTests {
    private let request = PromptRequest(
        Question(
            cookie: "c",
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            name: "Tool",
            detail: "executable /usr/bin/tool",
            processID: 42,
            secondsLeft: 60,
            isInline: true
        ),
        services: [.camera, .microphone],
        reasons: [.camera: "to record what you ask for", .microphone: "to record sound"]
    )

    private func steps(_ keys: String) -> [PromptDialog.Step] {
        var dialog = PromptDialog(request)
        return dialog.take(Array(keys.utf8)).filter { $0 != .ignored }
    }

    @Test func `the dialog shows who asks, how sure that is, why, and both rows`() {
        let text = PromptDialog(request).opening
        for part in [
            "“Tool” wants to use the camera and the microphone\n", "  camera: it says: “to record what you ask for”\n",
            "  microphone: it says: “to record sound”\n", "  Not verified: another program of your account",
            "every command run in this session", "or no answer within 60 s",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        // What nobody reads who is asked stands behind a key.
        #expect(!text.contains("/usr/bin/tool") && !text.contains("42"))
    }

    @Test(arguments: Bridge.allCases) func `it says how a program came that gives no reason`(bridge: Bridge) {
        var request = request
        (request.reasons, request.bridge) = ([:], bridge)
        let text = PromptDialog(request).opening
        #expect(text.contains("  camera: it gives no reason\n"))
        let way =
            bridge == .pulse
            ? "These programs were not written for captured. A yes covers every program that uses PulseAudio."
            : "It was not written for captured, and comes through \(bridge.title)."
        // It may be folded.
        #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(way))
    }

    @Test func `a key shows what else is known, and asks again`() {
        let question = PromptDialog(request).firstQuestion(hasEarlyKeys: false)
        #expect(
            steps("d") == [
                .next(
                    """
                    details
                      program   exe:/usr/bin/tool
                      identity  claimed
                      known by  executable /usr/bin/tool
                      process   42
                    \(question)
                    """
                )
            ]
        )
        #expect(steps("dyn").last == .done(.answered([.camera: true, .microphone: false]), "no\n"))
    }

    @Test(arguments: [
        ("sandboxed", "Verified: this is exe:/usr/bin/tool"), ("service", "Verified"), ("user", "Verified"),
    ])
    func `who is known for certain is named by id`(tier: String, words: String) {
        var other = request
        other.question.tier = tier
        #expect(PromptDialog(other).opening.contains(words))
        #expect(PromptDialog(other).opening.contains("exe:/usr/bin/tool"))
        other.question.tier = "new"
        #expect(PromptDialog(other).opening.contains("Not verified"))
    }

    @Test(arguments: [60, 80, 200]) func `no line is longer than the terminal is wide`(width: Int) {
        var long = request
        long.lifetimes = ["always", "until", "connection", "session"]
        long.services = [.camera, .microphone, .libraryReadWrite]
        long.limitable = [.libraryReadWrite]
        long.reasons[.camera] = String(repeating: "what it is about ", count: 12)
        var dialog = PromptDialog(long, width: width)
        var text = dialog.opening + dialog.firstQuestion(hasEarlyKeys: false)
        for step in dialog.take(Array("dyy".utf8)) { if case .next(let more) = step { text += more } }
        // What was answered stands behind the question.
        for line in text.split(separator: "\n") { #expect(line.prefix { $0 != "]" }.count <= width, "\(line)") }
        #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("s only chosen items"))
    }

    @Test func `two rows are answered apart`() {
        #expect(
            steps("yn") == [
                .next("yes\n  allow the microphone? [y yes, n no, d details] "),
                .done(.answered([.camera: true, .microphone: false]), "no\n"),
            ]
        )
    }

    @Test(arguments: ["y\nn\n", "Y N", "yes\nno\n"])
    func `keys without a meaning are passed over`(keys: String) {
        #expect(steps(keys).last == .done(.answered([.camera: true, .microphone: false]), "no\n"))
    }

    private func steps(offering lifetimes: [String], _ keys: String) -> [PromptDialog.Step] {
        var request = request
        request.lifetimes = lifetimes
        var dialog = PromptDialog(request)
        return dialog.take(Array(keys.utf8)).filter { $0 != .ignored }
    }

    @Test func `a yes may be for this time or until it is closed, each row for itself`() {
        let all = ["always", "until", "connection", "session"]
        #expect(
            steps(offering: all, "tc") == [
                .next(
                    "yes, this time\n  allow the microphone? [y yes, t this time, c until closed, n no, d details] "
                ),
                .done(
                    .answered([
                        .camera: PersonsAnswer(true, lifetime: .session),
                        .microphone: PersonsAnswer(true, lifetime: .connection),
                    ]),
                    "yes, until closed\n"
                ),
            ]
        )
        #expect(
            steps(offering: all, "n\nT\n").last
                == .done(
                    .answered([.camera: false, .microphone: PersonsAnswer(true, lifetime: .session)]),
                    "yes, this time\n"
                )
        )
        #expect(steps(offering: all, "yes no").last == .done(.answered([.camera: true, .microphone: false]), "no\n"))
        #expect(steps(offering: all, "tomorrow").isEmpty)
    }

    @Test func `what the daemon does not take is neither offered nor understood`() {
        #expect(steps(offering: [], "t").isEmpty)
        #expect(steps(offering: ["always", "session"], "c").isEmpty)
        #expect(!PromptDialog(request).opening.contains("this time"))
        var offering = request
        offering.lifetimes = ["session"]
        let question = PromptDialog(offering).firstQuestion(hasEarlyKeys: false)
        #expect(question == "  allow the camera? [y yes, t this time, n no, d details] ")
    }

    @Test(arguments: ["\u{4}", "y\u{4}", "\u{1B}", ""])
    func `the end of input, Ctrl-D and Escape answer nothing, not even the row before`(keys: String) {
        #expect(steps(keys).last == .done(.dismissed, "no answer\n"))
    }

    @Test func `an arrow key is no answer and does not close the dialog`() {
        #expect(steps("\u{1B}[A").isEmpty)
        #expect(steps("\u{1B}[200~y").isEmpty)
    }

    @Test(arguments: ["maybe", "anyway\n", "y but not the microphone", "yesterday", "sudo rm -rf /\ny\n"])
    func `a letter within other text is no answer`(keys: String) {
        #expect(steps(keys).isEmpty)
    }

    @Test func `keys after the last answer are not taken`() {
        var dialog = PromptDialog(request)
        #expect(dialog.take(Array("yyn".utf8)).count == 2)
    }

    @Test func `texts of programs cannot move the cursor, turn the text or fake a line`() {
        var forged = request
        forged.question.name = "Nice\u{1B}[2J\u{202E}loot"
        forged.reasons = [.camera: "a\nallow the camera? [y/n] yes\r"]
        let text = PromptDialog(forged).opening
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("\r"))
        #expect(text.contains("Nice?[2J?loot"))
        #expect(text.contains("“a?allow the camera? [y/n] yes?”"))
    }

    @Test func `that a question is withdrawn is told on a line of its own`() {
        #expect(!PromptDialog(request).firstQuestion(hasEarlyKeys: false).hasSuffix("\n"))
        #expect(PromptDialog(request).opening.hasSuffix("\n"))
        #expect(PromptDialog.withdrawal.hasPrefix("\n"))
        #expect(PromptDialog.withdrawal.hasSuffix("\n"))
    }

    @Test func `long texts are cut`() {
        var forged = request
        forged.reasons = [.camera: String(repeating: "x", count: 100_000)]
        #expect(PromptDialog(forged).opening.count < 2000)
    }
}
