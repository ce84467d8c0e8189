@testable import CaptureBus
import CaptureCore
import Testing

@testable import CaptureService

@Suite struct `Refusals in the journal` {
    private let start = ContinuousClock.now
    private func call(_ interface: String = CaptureNames.authorization, path: String = CaptureNames.root) -> BusCall {
        BusCall(sender: ":1.7", path: path, interface: interface, member: "Set", arguments: [])
    }

    @Test func `of a thousand of a kind ten are told in a minute, the tenth as the last`() {
        var limit = LineLimit()
        let verdicts = (0..<1000).map { limit.admit("a", of: 1000, at: start + .milliseconds($0)) }
        #expect(verdicts.prefix(9).allSatisfy { $0 == .told(leftOut: 0) })
        #expect(verdicts[9] == .last)
        #expect(verdicts.dropFirst(10).allSatisfy { $0 == .leftOut })
    }

    @Test func `the next minute tells how many were left out, once`() {
        var limit = LineLimit()
        for _ in 0..<25 { _ = limit.admit("a", of: 1000, at: start) }
        #expect(limit.admit("a", of: 1000, at: start + .seconds(60)) == .told(leftOut: 15))
        #expect(limit.admit("a", of: 1000, at: start + .seconds(61)) == .told(leftOut: 0))
    }

    @Test func `who makes noise hides nobody else`() {
        var limit = LineLimit()
        for _ in 0..<1000 { _ = limit.admit("noise", of: 1000, at: start) }
        #expect(limit.admit("other", of: 1000, at: start) == .told(leftOut: 0))
    }

    @Test func `of more kinds than are told apart the rest share one limit, until the minute is over`() {
        var limit = LineLimit()
        for number in 0..<LineLimit.mostKinds { _ = limit.admit("\(number)", of: 1000, at: start) }
        let rest = (0..<100).map { limit.admit("other \($0)", of: 1000, at: start) }
        #expect(rest.contains(.last) && rest.last == .leftOut)
        #expect(limit.admit("new", of: 1000, at: start + .seconds(60)) == .told(leftOut: 0))
    }

    @Test func `who makes noise of more kinds than are told apart hides none of another user`() {
        var limit = LineLimit()
        for number in 0..<2 * LineLimit.mostKinds { _ = limit.admit("\(number)", of: 1000, at: start) }
        #expect(limit.admit("new", of: 1000, at: start) == .leftOut)
        #expect(limit.admit("new", of: 1001, at: start) == .told(leftOut: 0))
        #expect(limit.admit("new", of: nil, at: start) == .told(leftOut: 0))
    }

    @Test func `of a user are limited beside another's of the same kind`() {
        var limit = LineLimit()
        for _ in 0..<25 { _ = limit.admit("a", of: 1000, at: start) }
        #expect(limit.admit("a", of: 1001, at: start) == .told(leftOut: 0))
        #expect(limit.admit("a", of: 1000, at: start + .seconds(60)) == .told(leftOut: 15))
    }

    @Test func `are what keeps somebody from what is not theirs, not what was merely wrong`() {
        #expect(RefusalJournal.isRefusal(CaptureError(.notPermitted, "no"), of: call()))
        #expect(RefusalJournal.isRefusal(CaptureError(.busy, "no"), of: call()))
        #expect(RefusalJournal.isRefusal(CaptureError(.restricted, "no"), of: call()))
        let session = call(CaptureNames.session, path: CaptureNames.sessions + "/3")
        #expect(RefusalJournal.isRefusal(CaptureError(.noSuchSession, "no"), of: session))
        #expect(!RefusalJournal.isRefusal(CaptureError(.noSuchSession, "no"), of: call()))
        #expect(!RefusalJournal.isRefusal(CaptureError(.invalidArgument, "no"), of: call()))
        #expect(RefusalJournal.isRefusal(BusErrors.tooMuch, of: call()))
    }

    @Test func `of callers that cannot be identified count as the same but for numbers and names`() {
        func kind(_ message: String) -> String {
            CallerDirectory.kind(of: CaptureError(.notPermitted, message))
        }
        let gone = "the program behind process 12 cannot be identified: its file /a/b was removed"
        let again = "the program behind process 345 cannot be identified: its file /c was removed"
        #expect(kind(gone) == kind(again))
        let memory = "the program behind process 12 cannot be identified: it runs from memory"
        #expect(kind(gone) != kind(memory))
    }
}
