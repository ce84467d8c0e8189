import Testing

@testable import CaptureCore
@testable import CaptureKit
@testable import capturectl

struct AuthPresentationTests {
    private static let explanation = AuthorizationExplanation(
        program: "exe:/usr/bin/cheese",
        tier: "claimed",
        service: "camera",
        status: .restricted,
        decider: "policy",
        policy: "restrict",
        policySource: "/etc/captured/policy.d/a.conf:4",
        policyFault: "",
        possibleRules: [],
        stored: .authorized,
        reason: "answer",
        start: .refused,
        exitCode: 77,
        asks: "",
        message: "policy forbids it"
    )

    @Test func `an explanation names what decides, and what a start would do`() {
        var one = Self.explanation
        #expect(
            AuthPresentation.text([one]) == """
                exe:/usr/bin/cheese, claimed
                camera: restricted
                  decided by  policy: /etc/captured/policy.d/a.conf:4 says restrict
                  answer      authorized, which has no effect now, by answer
                  a start     is refused, exit code 77: policy forbids it
                """
        )
        let json = AuthPresentation.json(one)
        #expect(json["policySource"] == "/etc/captured/policy.d/a.conf:4")
        #expect(json["exitCode"] == JSON(77))
        #expect(json["stored"] == "authorized")
        #expect(json["policyFault"] == .null)
        one.status = .authorized
        one.decider = "answer"
        one.policy = "ask"
        one.possibleRules = ["/b.conf:1 says restrict"]
        one.start = .starts
        one.message = "it captures\u{1B}[31m"
        #expect(
            AuthPresentation.text([one]) == """
                exe:/usr/bin/cheese, claimed
                camera: authorized
                  decided by  the stored answer: authorized, by answer
                  policy      ask, by /etc/captured/policy.d/a.conf:4
                  perhaps     /b.conf:1 says restrict, which may match when the program runs
                  a start     captures: it captures?[31m
                """
        )
    }

    @Test func `an explanation of what is switched off names the switch, and an answer that waits for it`() {
        var one = Self.explanation
        (one.status, one.decider, one.policy, one.policySource) = (.authorized, "switch", "", "")
        (one.reason, one.message) = ("settings", "the camera is switched off")
        #expect(
            AuthPresentation.text([one]) == """
                exe:/usr/bin/cheese, claimed
                camera: authorized
                  decided by  the switch: it is off for every program
                  answer      authorized, which has no effect now, by settings
                  a start     is refused, exit code 77: the camera is switched off
                """
        )
    }

    @Test func `a restricted answer is listed with the file that says so`() {
        let entry = AuthorizationEntry(
            user: "ann",
            program: "exe:/a",
            service: "camera",
            status: .restricted,
            stored: .authorized,
            policy: "/etc/captured/policy.d/a.conf:4",
            tier: "claimed",
            reason: "answer",
            detail: ""
        )
        #expect(AuthPresentation.table([entry]).text.contains("restricted  claimed  /etc/captured/policy.d/a.conf:4"))
        #expect(AuthPresentation.json(entry)["stored"] == "authorized")
        #expect(AuthPresentation.json(entry)["policy"] == "/etc/captured/policy.d/a.conf:4")
    }
    @Test func `agents are listed with whom they ask for`() {
        var desktop = AgentSummary()
        (desktop.user, desktop.userID, desktop.program) = ("alice", 1000, "exe:/usr/bin/capturectl")
        (desktop.name, desktop.tier, desktop.processID, desktop.kind) = ("capturectl", "claimed", 812, "desktop")
        var inline = desktop
        (inline.session, inline.kind, inline.isInline, inline.processID) = ("c2", "", true, 9)
        #expect(
            AgentPresentation.table([desktop, inline]).text == """
                USER   PROGRAM                  KIND     ASKS FOR  PID  SESSION  TIER     NAME
                alice  exe:/usr/bin/capturectl  desktop  all       812           claimed  capturectl
                alice  exe:/usr/bin/capturectl           itself      9  c2       claimed  capturectl

                """
        )
        let json = AgentPresentation.json(inline)
        #expect(json["session"] == "c2" && json["inline"] == JSON(true) && json["kind"] == .null)
        #expect(json["pid"] == "9" && json["uid"] == "1000")
        #expect(AgentPresentation.json(desktop)["session"] == .null)
    }
}
