import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Foundation
import MediaLibrary
import Synchronization
import TestSupport

@testable import CaptureService

/// A daemon's side of saving, on a bus and in a folder of the test's own, with a person who answers as the test says.
/// Thread-safe.
final class SavingScene: Sendable {
    private static let own = Files.link(at: "/proc/self/exe") ?? ""
    /// A picture of one pixel, as PNG.
    private static let picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

    private final class Questions: Sendable {
        let asked = Mutex<[Service]>([])
        let picking = Mutex<[PickPurpose]>([])
        let confirming = Mutex<(actions: [String], answer: Bool)>(([], true))
    }

    /// The person, who picks nothing and confirms what the test says.
    private struct Person: Prompter {
        let questions: Questions
        let answers: [Service: Bool]
        let isLimiting: Bool

        func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
            questions.asked.withLock { $0 += request.services }
            let given = answers.filter { request.services.contains($0.key) }
            guard !given.isEmpty else { throw CaptureError(.dismissed, "the question was closed") }
            return given.reduce(into: [:]) { answers, one in
                answers[one.key] = PersonsAnswer(one.value, isLimited: isLimiting && one.key.canBeLimited)
            }
        }

        func confirm(_ request: Confirmation) async throws(CaptureError) -> Bool {
            questions.confirming.withLock { confirming in
                confirming.actions.append("\(request.action.rawValue) \(request.names.joined(separator: " "))")
                return confirming.answer
            }
        }

        func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
            questions.picking.withLock { $0.append(question.purpose) }
            throw CaptureError(.dismissed, "the question was closed")
        }
    }

    let gate: AuthorizationGate
    let history = HistoryKeeper()
    let saver: LibrarySaver
    let connection: BusConnection
    let client: SessionClient
    private let questions: Questions
    private let libraries: LibraryCatalog
    private let folder = NSTemporaryDirectory() + "library-saving-\(UUID().uuidString)"

    /// What the person was asked for, in order.
    var asked: [Service] { questions.asked.withLock { $0 } }

    /// What for the person was asked to pick, in order.
    var picked: [PickPurpose] { questions.picking.withLock { $0 } }

    /// What the person was to confirm, in order: the action and the names.
    var confirmed: [String] { questions.confirming.withLock { $0.actions } }

    /// Whether the person confirms what comes from now on.
    func confirms(_ answer: Bool) { questions.confirming.withLock { $0.answer = answer } }

    /// - Parameters:
    ///   - answers: What the person answers; a question about anything else is closed.
    ///   - isLimiting: Whether a yes is for chosen assets, where it can be.
    ///   - reasons: What the program states a reason for.
    ///   - isCommandLine: Whether the test itself passes for the shipped command line.
    init(
        _ bus: PrivateBus,
        _ answers: [Service: Bool] = [:],
        isLimiting: Bool = false,
        reasons: Set<Service> = Set(Service.ofLibrary),
        isCommandLine: Bool = false
    ) async throws {
        let connection = try await BusConnection.open(bus.kind)
        let questions = Questions()
        gate = AuthorizationGate(
            usage: Reasons(services: reasons),
            prompter: Person(questions: questions, answers: answers, isLimiting: isLimiting)
        )
        libraries = LibraryCatalog(directory: folder, limits: LibraryLimits())
        let library = LibraryParts(
            libraries,
            bus: connection,
            gate: gate,
            questions: AccessQuestions(bus: connection, gate: gate),
            history: history,
            importers: Importers(origin: TestPrograms.recorder)
        )
        saver = library.saver
        let identity = ClientIdentity(
            program: "flatpak:org.example.Recorder",
            tier: .sandboxed,
            user: getuid(),
            name: "Recorder",
            detail: "a test"
        )
        client = SessionClient(identity: identity, connection: ":1.77") { () throws(CaptureError) in identity }
        let root = SystemRoot(ofProcessOne: false)
        let path = isCommandLine ? SavingScene.own : "/nonexistent"
        let commandLine = ShippedProgram(path: path, root: root)
        let callers = CallerDirectory(bus: connection, root: root) { _ in }
        let doors = PassingDoors.ofTests
        let libraryObject = library.object(
            callers: callers,
            doors: doors,
            settings: SettingsGuard(bus: connection, kind: bus.kind, commandLine: path, logins: .ofSessionBus),
            commandLine: commandLine
        )
        try await connection.export(
            try BusObject(path: CaptureNames.root, [libraryObject.implementation, doors.implementation(for: callers)])
        )
        try await connection.requestName(CaptureNames.service)
        self.connection = connection
        self.questions = questions
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Sets what the person decides later.
    func set(_ choice: LibraryChoice) async throws {
        let answers = choice.answers
        try await gate.set(
            user: getuid(),
            program: client.identity.program,
            [.libraryAdd: answers.add, .libraryReadWrite: answers.readWrite]
        )
    }

    /// Records a picture as far as its recorder does, which is gone when this returns unless its file is wanted.
    func record(
        _ destination: LibraryDestination,
        _ content: Data? = Data(base64Encoded: picture)
    ) async throws -> (file: any OpenFile, recording: any LibraryRecording) {
        let output = OutputDescription(name: "shot", kind: .photo, format: "png", library: destination)
        let (file, recording) = try await saver.begin(output, madeWith: "A\u{202E} Camera", for: client)
        let bytes = Array(content ?? Data())
        let count = unsafe write((file as? Descriptor)?.descriptor ?? -1, bytes, bytes.count)
        guard count == bytes.count else { throw CaptureError(.inputOutput, "the test cannot write") }
        return (file, recording)
    }

    /// Does something in the library, past the bus.
    func use<Value: Sendable>(
        _ work: @escaping @Sendable (LibraryStore) throws(CaptureError) -> Value
    ) async throws -> Value {
        try await libraries.use(getuid(), work)
    }
}

/// Reasons for some services alone.
private struct Reasons: UsageDescriptions {
    let services: Set<Service>

    func description(of client: ClientIdentity, for wanted: [Service]) throws(CaptureError) -> UsageDescription {
        guard services.isSuperset(of: wanted) else {
            throw CaptureError(.missingUsageDescription, "no reason is stated")
        }
        return UsageDescription(reasons: Dictionary(uniqueKeysWithValues: wanted.map { ($0, "to test") }))
    }
}
