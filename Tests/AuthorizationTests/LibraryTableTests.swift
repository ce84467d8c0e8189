import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import Authorization

/// What a real gate makes of the answers to both levels of the library, as the table of the documentation has it.
///
/// To write the table anew after a change that is meant: `CAPTURE_WRITE_TABLE=1 swift test --filter LibraryTable`.
@Suite struct LibraryTableTests {
    private static let page =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/CaptureKit/Documentation.docc/Decisions.md")
    private static let marks = (
        "<!-- The table of the library: made by LibraryTableTests.swift. -->\n\n",
        "\n<!-- End of the table of the library. -->\n"
    )

    /// The row of a pair of answers.
    private func row(_ add: AuthorizationStatus?, _ readWrite: AuthorizationStatus?) async throws -> String {
        let store = AuthorizationStore.inMemory()
        for (service, status) in [(Service.libraryAdd, add), (.libraryReadWrite, readWrite)] {
            guard let status else { continue }
            let answer = StoredAnswer(
                user: 0,
                program: ClientIdentity.album.program,
                service: service,
                tier: .service,
                status: status,
                reason: .answer,
                time: .now,
                detail: "a test"
            )
            try store.put([answer])
        }
        let person = PreparedPerson()
        let gate = AuthorizationGate(store: store, prompter: person)
        let found = try await gate.libraryAccess(for: .album)
        var outcomes: [String] = []
        for service in Service.ofLibrary {
            let before = person.asked.count
            do throws(CaptureError) {
                _ = try await gate.request([service], .album)
                outcomes.append("granted")
            } catch {
                outcomes.append(person.asked.count > before ? "asks" : "refused (\(error.code.exitCode))")
            }
        }
        return "| \(add?.word ?? "none") | \(readWrite?.word ?? "none") | \(found.add.word), \(outcomes[0]) "
            + "| \(found.readWrite.word), \(outcomes[1]) | \(found.withoutLevel.word) |\n"
    }

    @Test func `the table in the documentation is what the gate does`() async throws {
        var made = "| answer to add-only | answer to read-write | add-only | read-write | without a level |\n"
        made += "| --- | --- | --- | --- | --- |\n"
        for readWrite in [nil, AuthorizationStatus.denied, .limited, .authorized] {
            for add in [nil, AuthorizationStatus.denied, .authorized] { made += try await row(add, readWrite) }
        }
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let (begin, end) = Self.marks
        let start = try #require(page.range(of: begin)?.upperBound)
        let stop = try #require(page.range(of: end)?.lowerBound)
        if ProcessInfo.processInfo.environment["CAPTURE_WRITE_TABLE"] != nil {
            try (page[..<start] + made + page[stop...]).write(to: Self.page, atomically: false, encoding: .utf8)
        } else {
            #expect(String(page[start..<stop]) == made)
        }
    }
}
