import CaptureCore
import Testing

/// What was asked for, and what the person chose: a row of the table in the documentation.
struct AccessRow: Sendable, CustomTestStringConvertible {
    var asked: String
    var chose: String
    var answers: LibraryAnswers
    var expected: (withoutLevel: AuthorizationStatus, add: AuthorizationStatus, readWrite: AuthorizationStatus)
    var prompts: (add: Bool, readWrite: Bool)

    var testDescription: String { "\(asked): \(chose)" }

    static let all: [AccessRow] = [
        AccessRow(
            asked: "nothing",
            chose: "nothing",
            answers: LibraryAnswers(),
            expected: (.notDetermined, .notDetermined, .notDetermined),
            prompts: (true, true)
        ),
        AccessRow(
            asked: "add-only",
            chose: "yes",
            answers: LibraryAnswers(add: .authorized),
            expected: (.notDetermined, .authorized, .notDetermined),
            prompts: (false, true)
        ),
        AccessRow(
            asked: "add-only",
            chose: "no",
            answers: LibraryAnswers(add: .denied),
            expected: (.notDetermined, .denied, .notDetermined),
            prompts: (false, true)
        ),
        AccessRow(
            asked: "read-write",
            chose: "chosen assets",
            answers: LibraryAnswers(readWrite: .limited),
            expected: (.authorized, .limited, .limited),
            prompts: (false, false)
        ),
        AccessRow(
            asked: "read-write",
            chose: "all",
            answers: LibraryAnswers(readWrite: .authorized),
            expected: (.authorized, .authorized, .authorized),
            prompts: (false, false)
        ),
        AccessRow(
            asked: "read-write",
            chose: "no",
            answers: LibraryAnswers(readWrite: .denied),
            expected: (.denied, .notDetermined, .denied),
            prompts: (true, false)
        ),
        AccessRow(
            asked: "both",
            chose: "add-only",
            answers: LibraryChoice.addOnly.answers,
            expected: (.denied, .authorized, .denied),
            prompts: (false, false)
        ),
        AccessRow(
            asked: "both",
            chose: "chosen assets",
            answers: LibraryChoice.limited.answers,
            expected: (.authorized, .limited, .limited),
            prompts: (false, false)
        ),
        AccessRow(
            asked: "both",
            chose: "all",
            answers: LibraryChoice.all.answers,
            expected: (.authorized, .authorized, .authorized),
            prompts: (false, false)
        ),
        AccessRow(
            asked: "both",
            chose: "no",
            answers: LibraryChoice.none.answers,
            expected: (.denied, .denied, .denied),
            prompts: (false, false)
        ),
    ]
}

@Suite("Access to the library")
struct LibraryAccessTests {
    @Test(arguments: AccessRow.all)
    func `follows from the two answers`(row: AccessRow) {
        #expect(row.answers.withoutLevel == row.expected.withoutLevel)
        #expect(row.answers.status(.addOnly) == row.expected.add)
        #expect(row.answers.status(.readWrite) == row.expected.readWrite)
        #expect(row.answers.prompts(.addOnly) == row.prompts.add)
        #expect(row.answers.prompts(.readWrite) == row.prompts.readWrite)
    }

    @Test func `is restricted where policy says so`() {
        let answers = LibraryAnswers(add: .restricted, readWrite: .restricted)
        #expect(answers.status(.addOnly) == .restricted)
        #expect(answers.withoutLevel == .restricted)
        #expect(!answers.prompts(.readWrite))
    }

    @Test func `to save is decided in the order of the rule`() {
        #expect(SaveStep.next(add: .denied, readWrite: .authorized, asked: []) == .intoAlbum)
        #expect(SaveStep.next(add: .authorized, readWrite: .notDetermined, asked: []) == .ask(.readWrite))
        #expect(SaveStep.next(add: .authorized, readWrite: .denied, asked: []) == .intoLibrary)
        #expect(SaveStep.next(add: .limited, readWrite: .limited, asked: []) == .intoLibrary)
        #expect(SaveStep.next(add: .notDetermined, readWrite: .denied, asked: [.readWrite]) == .ask(.addOnly))
        #expect(SaveStep.next(add: .denied, readWrite: .denied, asked: []) == .refused)
        #expect(SaveStep.next(add: .restricted, readWrite: .restricted, asked: []) == .refused)
    }

    /// A person who closes every question is put each of them once.
    @Test func `asks each level at most once a save`() {
        var asked: Set<LibraryLevel> = []
        var order: [LibraryLevel] = []
        while case .ask(let level) = SaveStep.next(add: .notDetermined, readWrite: .notDetermined, asked: asked) {
            #expect(asked.insert(level).inserted)
            order.append(level)
        }
        #expect(order == [.readWrite, .addOnly])
        #expect(SaveStep.next(add: .notDetermined, readWrite: .notDetermined, asked: asked) == .refused)
    }
}
