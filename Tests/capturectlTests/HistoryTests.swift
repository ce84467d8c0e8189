import ArgumentParser
import CaptureKit
import Foundation
import Testing

@testable import capturectl

struct HistoryTests {
    private func event(_ change: (inout HistoryEvent) -> Void = { _ in }) -> HistoryEvent {
        var event = HistoryEvent(id: 5, kind: "use")
        event.user = "alice"
        event.program = "exe:/usr/bin/cheese"
        event.tier = "claimed"
        event.service = "camera"
        event.deviceName = "A Camera"
        event.cause = "answer"
        event.status = .authorized
        event.began = 1_700_000_000_000
        event.ended = 1_700_000_061_000
        event.duration = 61_000
        event.outcome = "stopped"
        change(&event)
        return event
    }

    @Test func `a row says who, what, how it ended, how long and why`() {
        let lasting = event {
            $0.outcome = ""
            $0.ended = nil
        }
        let refused = event {
            $0.kind = "decision"
            $0.cause = "stored-answer"
            $0.status = .denied
            $0.times = 12
            $0.message = "it was denied"
        }
        let set = event {
            $0.kind = "setting"
            $0.cause = "settings"
            $0.status = .denied
            $0.authorUser = "root"
            $0.authorProgram = "exe:/usr/bin/capturectl"
        }
        let lines = HistoryPresentation.table([event(), lasting, refused, set]).text.split(separator: "\n")
        let headings = lines[0].split(separator: " ").joined(separator: " ")
        #expect(headings == "WHEN USER PROGRAM TIER SERVICE WHAT LASTED BY NOTE")
        #expect(lines[1].contains("stopped") && lines[1].contains("01:01.0") && lines[1].hasSuffix("A Camera"))
        #expect(lines[2].contains("in use"))
        #expect(lines[3].contains("denied x12") && lines[3].hasSuffix("it was denied"))
        #expect(!lines[3].contains("01:01.0"))
        #expect(lines[4].contains("denied") && lines[4].contains("settings: root by exe:/usr/bin/capturectl"))
    }

    @Test func `in JSON a use that lasts has no end`() {
        #expect(HistoryPresentation.json(event())["ended"] == "2023-11-14T22:14:21.000Z")
        #expect(HistoryPresentation.json(event { $0.ended = nil })["ended"] == .null)
    }

    @Test func `in JSON a change of settings has who made it`() {
        #expect(HistoryPresentation.json(event())["author"] == .null)
        let set = event {
            $0.authorUser = "root"
            $0.authorProgram = "exe:/usr/bin/capturectl"
        }
        #expect(HistoryPresentation.json(set)["author"] == ["user": "root", "program": "exe:/usr/bin/capturectl"])
    }

    @Test func `options become conditions`() throws {
        let filter = try HistoryCommand.parse([
            "--user", "alice", "--program", "exe:/a", "--service", "camera", "--since", "2026-03-01", "--until",
            "2026-03-02 12:30",
        ]).filter()
        #expect(filter.user == "alice")
        #expect(filter.program == "exe:/a")
        #expect(filter.service == .camera)
        #expect(try #require(filter.until) - (try #require(filter.since)) == 131_400_000)
    }

    @Test(arguments: [
        ["--since", "soon"], ["--since", "2026-02-31"], ["--since", "2026-3-1"], ["--since", "90"],
        ["--since", "2026-03-01 25:00"], ["--until", ""], ["--since", "now", "--until", "7d"], ["--program", "cheese"],
        ["--since", "25:00"], ["--since", "1:2"], ["--user", "-1"], ["--since", "9999999999y"],
    ])
    func `what is no time, program or user is a usage error`(arguments: [String]) {
        let error = #expect(throws: CaptureError.self) { try HistoryCommand.parse(arguments).filter() }
        #expect(error?.code == .usage)
    }

    @Test(arguments: [("90min", Int64(-5_400_000)), ("7d", -604_800_000), ("1h 30min", -5_400_000), ("now", 0)])
    func `a span counts back from now`(text: String, offset: Int64) throws {
        let now: Int64 = 1_700_000_000
        #expect(try MomentArgument.milliseconds(text, "--since", .past, now: now) == now * 1000 + offset)
        #expect(try MomentArgument.milliseconds(text, "--until", .future, now: now) == now * 1000 - offset)
    }

    @Test func `a time of day is the last one, or the next`() throws {
        let midnight = Int64(Calendar.current.startOfDay(for: Date()).timeIntervalSince1970)
        let now = midnight + 12 * 3600
        func moment(_ text: String, _ direction: MomentArgument.Direction) throws -> Int64 {
            try MomentArgument.milliseconds(text, "--since", direction, now: now) / 1000
        }
        let nine = try moment("09:00", .past)
        #expect(try moment("9:00:30", .past) == nine + 30)
        #expect((7200...14_400).contains(now - nine))
        #expect(try moment("16:00", .past) < midnight)
        #expect(try moment("16:00", .future) > now)
        #expect(try moment("09:00", .future) > midnight + 86_400)
    }

    @Test func `a day begins at midnight here`() throws {
        let now = Int64(Date().timeIntervalSince1970)
        let midnight = Int64(Calendar.current.startOfDay(for: Date()).timeIntervalSince1970) * 1000
        #expect(try MomentArgument.milliseconds("today", "--since", .past, now: now) == midnight)
        let yesterday = try MomentArgument.milliseconds("yesterday", "--since", .past, now: now)
        #expect((82_800_000...90_000_000).contains(midnight - yesterday))
    }

    @Test func `doctor tells a media library that cannot be used`() {
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nonexistent"))
        var health = DaemonHealth()
        health.libraryFaults = ["alice: the index is damaged", "bob: it is full"]
        let findings = checks.judge(health).filter { $0.check == "library" }
        #expect(findings.map(\.state) == [.problem, .problem])
        #expect(findings.first?.text == "the media library of alice: the index is damaged")
    }

    @Test func `doctor reports a damaged file of device profiles`() {
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nonexistent"))
        var health = DaemonHealth()
        #expect(!checks.judge(health).contains { $0.check == "profiles" })
        health.profileFault = "the file of device profiles /s/profiles is damaged: it was cut off"
        let finding = checks.judge(health).first { $0.check == "profiles" }
        #expect(finding?.state == .problem)
        #expect(finding?.text.contains("/s/profiles is damaged") == true)
        #expect(finding?.remedy.hasPrefix("capturectl control --save") == true)
    }

    @Test func `doctor tells a history that cannot be written, with what mends it`() {
        var health = DaemonHealth()
        health.historyFault = "the history /s/history.sqlite is damaged"
        health.historyRemedy = "mv 'a' 'b'"
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nonexistent"))
        let finding = checks.judge(health).first { $0.check == "history" }
        #expect(finding?.state == .problem)
        #expect(finding?.remedy == "sudo mv 'a' 'b'  # keeps the file, and begins a new history")
        #expect(HealthPresentation.fault(health) == "its history cannot be used, so nothing can start")
    }
}
