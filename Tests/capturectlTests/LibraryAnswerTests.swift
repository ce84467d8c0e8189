import ArgumentParser
import BusSupport
import CaptureBus
import Testing

@testable import CaptureCore
@testable import CaptureKit
@testable import capturectl

struct LibraryAnswerTests {
    private func change(_ words: String...) throws -> AuthSetCommand.Change {
        try AuthSetCommand.parse(["exe:/a"] + words).change()
    }

    @Test func `both levels are set at once by a choice, and each apart by an answer`() throws {
        for choice in LibraryChoice.allCases { #expect(try change("library", choice.rawValue) == .library(choice)) }
        #expect(try change("library-add", "denied") == .answer(.libraryAdd, isAllowed: false))
        #expect(try change("library-read-write", "authorized") == .answer(.libraryReadWrite, isAllowed: true))
    }

    @Test(arguments: [
        ["library", "authorized"], ["library", "denied"], ["library-add", "all"], ["library-read-write", "limited"],
        ["camera", "none"],
    ])
    func `a word that belongs to another is a usage error that names the right ones`(words: [String]) throws {
        let error = #expect(throws: CaptureError.self) { try AuthSetCommand.parse(["exe:/a"] + words).change() }
        #expect(error?.code == .usage)
        #expect(error?.message.contains(words[1]) == true)
        #expect(error?.message.contains(words[0] == "library" ? "none, add-only, limited, all" : "denied") == true)
    }

    @Test func `a choice that allows something may have an end`() throws {
        #expect(try AuthSetCommand.parse(["exe:/a", "library", "limited", "--until", "8h"]).end(now: 0) == 28_800_000)
        let none = try AuthSetCommand.parse(["exe:/a", "library", "none", "--until", "8h"])
        #expect(throws: CaptureError.self) { try none.end(now: 0) }
    }

    @Test func `a listed answer that another one counts for names that`() {
        let entry = AuthorizationEntry(
            user: "ann",
            program: "exe:/a",
            service: "library-add",
            status: .limited,
            stored: .denied,
            policy: "",
            follows: "library-read-write",
            tier: "claimed",
            reason: "answer",
            detail: ""
        )
        #expect(AuthPresentation.table([entry]).text.contains("library-add  limited  claimed  library-read-write"))
        #expect(AuthPresentation.json(entry)["follows"] == "library-read-write")
        #expect(AuthPresentation.json(entry)["stored"] == "denied")
    }

    @Test func `an explanation of both levels says what follows, and the status without a level`() {
        func explanation(_ service: AuthorizationService, follows: String) -> AuthorizationExplanation {
            AuthorizationExplanation(
                program: "exe:/a",
                tier: "claimed",
                service: service.rawValue,
                status: .limited,
                follows: follows,
                decider: "answer",
                policy: "",
                policySource: "",
                policyFault: "",
                possibleRules: [],
                stored: .limited,
                reason: "answer",
                start: .starts,
                exitCode: 0,
                asks: "",
                message: "it may"
            )
        }
        let both = [
            explanation(.libraryAdd, follows: "library-read-write"), explanation(.libraryReadWrite, follows: ""),
        ]
        #expect(
            AuthPresentation.text(both) == """
                exe:/a, claimed
                library-add: limited
                  follows     from library-read-write: reading includes adding
                  decided by  the stored answer: limited, by answer
                  a start     is granted: it may
                library-read-write: limited
                  decided by  the stored answer: limited, by answer
                  a start     is granted: it may
                library: authorized, without a level
                """
        )
        #expect(AuthPresentation.json(both[0])["follows"] == "library-read-write")
        #expect(AuthPresentation.json(both[1])["follows"] == .null)
    }
}
