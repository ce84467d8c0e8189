@testable import Authorization
import CaptureCore
import Synchronization
import TestSupport

/// A person who answers each question as the test has laid down, in order, and closes those for which nothing is left.
final class PreparedPerson: Prompter {
    private let answers: Mutex<[[Service: PersonsAnswer]]>
    private let questions = Mutex<[[Service]]>([])

    /// What was asked for, question by question.
    var asked: [[Service]] { questions.withLock { $0 } }

    init(_ answers: [Service: PersonsAnswer]...) {
        self.answers = Mutex(answers.filter { !$0.isEmpty })
    }

    func prepare(_ next: [Service: PersonsAnswer]) { answers.withLock { $0.append(next) } }

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        request.sight.note()
        questions.withLock { $0.append(request.services) }
        guard let next = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw CaptureError(.dismissed, "nothing was laid down for it")
        }
        return next
    }
}

extension ClientIdentity {
    /// A program of the machine's, whose answers need no file.
    static let album = ClientIdentity(
        program: "unit:album.service",
        tier: .service,
        user: 990,
        name: "album",
        detail: "a test",
        groups: [990],
        units: ["album.service"]
    )
}

extension AuthorizationGate {
    func set(_ choice: LibraryChoice, _ options: SettingOptions = SettingOptions()) async throws(CaptureError) {
        try await set(
            user: 0,
            program: ClientIdentity.album.program,
            [.libraryAdd: choice.answers.add, .libraryReadWrite: choice.answers.readWrite],
            options
        )
    }
}
