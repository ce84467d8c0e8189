import CaptureCore
import TestSupport
import Testing

@Suite("Access to the library")
struct LibraryAccessTests {
    @Test(arguments: LibraryRow.table)
    func `follows from the two answers`(row: LibraryRow) {
        let answers = LibraryAnswers(
            add: row.answers[.libraryAdd]?.status ?? .notDetermined,
            readWrite: row.answers[.libraryReadWrite]?.status ?? .notDetermined
        )
        #expect(answers.withoutLevel == row.withoutLevel)
        #expect(answers.status(.addOnly) == row.add)
        #expect(answers.status(.readWrite) == row.readWrite)
        #expect(answers.prompts(.addOnly) == row.addPrompts)
        #expect(answers.prompts(.readWrite) == row.readWritePrompts)
    }

    @Test(arguments: [
        (LibraryChoice.none, AuthorizationStatus.denied, AuthorizationStatus.denied, AuthorizationStatus.denied),
        (.addOnly, .denied, .authorized, .denied), (.limited, .authorized, .limited, .limited),
        (.all, .authorized, .authorized, .authorized),
    ])
    func `follows from a choice, after which nothing prompts`(
        choice: LibraryChoice,
        withoutLevel: AuthorizationStatus,
        add: AuthorizationStatus,
        readWrite: AuthorizationStatus
    ) {
        let answers = choice.answers
        #expect(answers.withoutLevel == withoutLevel)
        #expect(answers.status(.addOnly) == add && answers.status(.readWrite) == readWrite)
        #expect(!answers.prompts(.addOnly) && !answers.prompts(.readWrite))
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
