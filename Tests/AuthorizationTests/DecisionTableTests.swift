import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Authorization

/// What a real gate does, under every policy and with every stored answer, as the table of the documentation has it.
///
/// To write the table anew after a change that is meant: `CAPTURE_WRITE_TABLE=1 swift test --filter decision`.
@Suite struct `The table of decisions` {
    /// A column on the left: its heading, and each case with what it says in the table.
    private enum PolicyCase: String, CaseIterable {
        case none = "no rule fits"
        case ask
        case allow
        case restrict
        case restrictAndAllow = "restrict and allow"
        case damaged = "cannot be understood"

        func text(for program: String) -> String {
            func rule(_ decision: String) -> String {
                "[Rule]\nService=camera\nProgram=\(program)\nDecision=\(decision)\n"
            }
            switch self {
            case .none: return ""
            case .ask, .allow, .restrict: return rule(rawValue)
            case .restrictAndAllow: return rule("allow") + rule("restrict")
            case .damaged: return "[Rule]\nService=camera\n"
            }
        }
    }

    private enum AnswerCase: String, CaseIterable {
        case none
        case denied
        case authorized

        var status: AuthorizationStatus? { AuthorizationStatus(word: rawValue) }
    }

    /// What came of one case.
    private struct Outcome: Hashable {
        var status: AuthorizationStatus
        var start: String

        var cell: String { "\(status.word), \(start)" }
    }

    private static let page =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/CaptureKit/Documentation.docc/Decisions.md")
    private static let marks = (
        "<!-- The table: made by DecisionTableTests.swift. -->\n\n", "\n<!-- End of the table. -->\n"
    )

    private static func client(_ tier: Tier) -> ClientIdentity {
        let program =
            switch tier {
            case .sandboxed: "flatpak:org.example.Tool"
            case .service: "unit:tool.service"
            case .user: "uid:990"
            case .claimed: "exe:/usr/bin/tool"
            }
        return ClientIdentity(
            program: program,
            tier: tier,
            user: tier == .sandboxed || tier == .claimed ? 1000 : 990,
            name: "tool",
            detail: "a test",
            executable: ExecutableFile(path: "/usr/bin/tool", device: 1, inode: 7, isProtected: true),
            groups: [1000],
            units: ["tool.service"]
        )
    }

    /// Puts a case together, reads the status, starts, and looks at what came of it.
    private func outcome(
        _ tier: Tier,
        _ policy: PolicyCase,
        _ answer: AnswerCase,
        isOn: Bool
    ) async throws -> Outcome {
        let client = Self.client(tier)
        let folders = try PolicyFolders()
        let store = AuthorizationStore.inMemory()
        if let status = answer.status {
            let row = StoredAnswer(
                user: client.answerUser,
                program: client.program,
                service: .camera,
                tier: tier,
                status: status,
                reason: .answer,
                time: .now,
                executable: client.executable,
                detail: client.detail
            )
            try store.put([row])
        }
        let questions = Atomic<Int>(0)
        let gate = AuthorizationGate(
            store: store,
            prompter: ClosurePrompter { _ throws(CaptureError) in
                questions.add(1, ordering: .relaxed)
                throw CaptureError(.dismissed, "it was closed")
            },
            policy: try folders.read(policy.text(for: client.program))
        )
        if !isOn { try await gate.setSwitch(.camera, isOn: false) }
        let status = try await gate.status(.camera, for: client)
        let foretold = await gate.explain([.camera], for: client)[0]
        #expect(foretold.status == status)
        var asked = questions.load(ordering: .relaxed)
        #expect(asked == 0)
        var start = "starts"
        do throws(CaptureError) {
            let grants = try await gate.request([.camera], client)
            #expect(grants[.camera]?.isLive == true)
            #expect(foretold.outcome == .starts)
        } catch {
            if error.code == .dismissed {
                start = "asks"
                #expect(foretold.outcome == .asks(name: "tool"))
            } else {
                start = "refused (\(error.code.exitCode))"
                #expect(foretold.outcome == .refused(error))
            }
        }
        asked = questions.load(ordering: .relaxed)
        #expect(asked == (start == "asks" ? 1 : 0))
        return Outcome(status: status, start: start)
    }

    /// The table: a row for each policy and answer, a column for each tier, those that are alike in one.
    private func table() async throws -> String {
        var columns: [(tiers: [Tier], cells: [String])] = []
        var rows: [String] = []
        for policy in PolicyCase.allCases {
            for answer in AnswerCase.allCases {
                for word in ["on", "off"] { rows.append("| \(policy.rawValue) | \(answer.rawValue) | \(word) |") }
            }
        }
        for tier in Tier.allCases {
            var cells: [String] = []
            for policy in PolicyCase.allCases {
                for answer in AnswerCase.allCases {
                    for isOn in [true, false] {
                        cells.append(try await outcome(tier, policy, answer, isOn: isOn).cell)
                    }
                }
            }
            if let like = columns.firstIndex(where: { $0.cells == cells }) {
                columns[like].tiers.append(tier)
            } else {
                columns.append(([tier], cells))
            }
        }
        let heads = columns.map { $0.tiers.map(\.rawValue).joined(separator: ", ") }
        var text = "| policy | stored answer | switch | \(heads.joined(separator: " | ")) |\n"
        text += "| --- | --- | --- | \(heads.map { _ in "---" }.joined(separator: " | ")) |\n"
        for (index, row) in rows.enumerated() {
            text += row + " " + columns.map(\.cells[index]).joined(separator: " | ") + " |\n"
        }
        return text
    }

    @Test func `in the documentation is what the gate does`() async throws {
        let made = try await table()
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let (begin, end) = Self.marks
        let start = try #require(page.range(of: begin)?.upperBound)
        let stop = try #require(page.range(of: end)?.lowerBound)
        if ProcessInfo.processInfo.environment["CAPTURE_WRITE_TABLE"] != nil {
            let written = page[..<start] + made + page[stop...]
            try written.write(to: Self.page, atomically: false, encoding: .utf8)
        } else {
            #expect(String(page[start..<stop]) == made)
        }
    }

    @Test(arguments: Tier.allCases)
    func `never begins with a start that nobody said yes to`(_ tier: Tier) async throws {
        for policy in PolicyCase.allCases {
            for answer in AnswerCase.allCases {
                #expect(try await outcome(tier, policy, answer, isOn: false).start == "refused (77)")
                guard try await outcome(tier, policy, answer, isOn: true).start == "starts" else { continue }
                let isAllowed = policy == .allow && tier == .service && answer == .none
                #expect(answer == .authorized || isAllowed)
                #expect(policy != .restrict && policy != .restrictAndAllow && policy != .damaged)
            }
        }
    }
}
