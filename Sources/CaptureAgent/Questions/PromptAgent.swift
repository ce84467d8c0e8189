import CaptureBus
public import CaptureCore
import CaptureMessages
import Synchronization
public import CaptureKit

/// Puts the daemon's questions to a person: registered on the bus for this user and session.
///
/// Thread-safe. Ends with `unregister`, with its last reference, or when the process leaves the bus.
public final class PromptAgent: Sendable {
    /// Asks a person; cancelled when the question is withdrawn.
    public typealias Answerer = @Sendable (PromptRequest) async -> PromptAnswer

    private let daemon: CaptureDaemon
    private let path: String
    private let questions: Questions

    private init(_ daemon: CaptureDaemon, _ path: String, _ questions: Questions) {
        self.daemon = daemon
        self.path = path
        self.questions = questions
    }

    deinit {
        questions.withdrawAll()
        daemon.connection.unexport(path)
    }

    /// Registers an agent.
    ///
    /// - Parameters:
    ///   - daemon: The daemon whose questions are answered.
    ///   - kind: What it is, such as `terminal`.
    ///   - isInline: Whether it answers only for what this process itself starts, on its own terminal.
    ///   - isPossible: Whether a person can be asked here now; where not, questions are refused, so that another agent is
    ///     asked.
    ///   - describe: Called to find out why a program of the person's own captures; without it, such a program can only ask
    ///     if it states its reason itself.
    ///   - confirm: Called for everything that a program is about to do in the media library; without it such questions
    ///     are refused, so that another agent is asked.
    ///   - pick: Called when a program has something picked from the media library; without it, and where it throws, such
    ///     questions are refused, so that another agent is asked.
    ///   - answer: Called for every question, for several at one time perhaps.
    /// - Throws: `notPermitted` where the daemon does not take this program for a person's.
    public static func register(
        on daemon: CaptureDaemon,
        kind: String = "terminal",
        isInline: Bool = false,
        isPossible: @escaping @Sendable () -> Bool = { true },
        describe: Describer? = nil,
        confirm: Confirmer? = nil,
        pick: Picker? = nil,
        answer: @escaping Answerer
    ) async throws(CaptureError) -> PromptAgent {
        let path = CaptureNames.agent + "/a\(UInt32.random(in: 0...UInt32.max))"
        let questions = Questions(daemon, answer)
        let agent = PromptAgent(daemon, path, questions)
        try await daemon.connection.export(try object(path, questions, daemon, isPossible, describe, confirm, pick))
        try await daemon.consult(
            "RegisterAgent",
            [.objectPath(path), AgentOptions(kind: kind, isInline: isInline).busValue]
        )
        return agent
    }

    /// Answers no more questions; those that stand are withdrawn.
    public func unregister() async throws(CaptureError) {
        questions.withdrawAll()
        try await daemon.consult("UnregisterAgent", [.objectPath(path)])
        daemon.connection.unexport(path)
    }

    private static func object(
        _ path: String,
        _ questions: Questions,
        _ daemon: CaptureDaemon,
        _ isPossible: @escaping @Sendable () -> Bool,
        _ describe: Describer?,
        _ confirm: Confirmer?,
        _ pick: Picker?
    ) throws(CaptureError) -> BusObject {
        // Anyone on the bus may call; only the daemon's questions are put to the person.
        @Sendable func check(_ call: BusCall) async throws(CaptureError) {
            guard try await daemon.connection.owner(of: CaptureNames.service) == call.sender else {
                throw CaptureError(.notPermitted, "only the capture daemon may ask")
            }
        }
        @Sendable func checkQuestion(_ call: BusCall) async throws(CaptureError) {
            try await check(call)
            guard isPossible() else {
                throw CaptureError(.nobodyToAsk, "it is not in the foreground of its terminal")
            }
        }
        return try BusObject(
            path: path,
            [
                BusImplementation(
                    CaptureInterfaces.agent,
                    methods: [
                        "Describe": { call throws(CaptureError) in
                            try await check(call)
                            return try await PromptAgent.describe(call.arguments, describe)
                        }
                    ],
                    actions: [
                        "Ask": { call throws(CaptureError) in
                            try await checkQuestion(call)
                            try await questions.put(try PromptRequest(bus: call.arguments))
                        },
                        "Confirm": { call throws(CaptureError) in
                            try await checkQuestion(call)
                            try await PromptAgent.put(call.arguments, to: questions, confirm)
                        },
                        "Pick": { call throws(CaptureError) in
                            try await checkQuestion(call)
                            try await PromptAgent.put(call.arguments, to: questions, of: daemon, pick)
                        },
                        "Cancel": { call throws(CaptureError) in
                            try await check(call)
                            questions.withdraw(call.arguments.first?.text ?? "")
                        },
                    ]
                )
            ]
        )
    }
}

/// The questions that stand, each in a task of its own.
final class Questions: Sendable {
    private let daemon: CaptureDaemon
    private let answer: PromptAgent.Answerer
    private let standing = Mutex<[String: Task<Void, Never>]>([:])

    init(_ daemon: CaptureDaemon, _ answer: @escaping PromptAgent.Answerer) {
        self.daemon = daemon
        self.answer = answer
    }

    func put(_ request: PromptRequest) async throws(CaptureError) {
        try await put(request.question.cookie) { { await self.answer(request) } }
    }

    /// Has a question asked, unless it stands already; returns when what it takes to get ready for it is done.
    ///
    /// It stands from the beginning, so that it can be withdrawn meanwhile.
    ///
    /// - Throws: What getting ready throws; then it stands no more.
    func put(
        _ cookie: String,
        afterwards prepare: @escaping @Sendable () async throws(CaptureError) -> PromptAgent.Picking
    ) async throws(CaptureError) {
        let result: Result<Void, CaptureError> = await withCheckedContinuation { ready in
            standing.withLock { standing in
                guard standing[cookie] == nil else { return ready.resume(returning: .success(())) }
                standing[cookie] = Task {
                    do throws(CaptureError) {
                        let ask = try await prepare()
                        ready.resume(returning: .success(()))
                        let answer = await ask()
                        // Whatever a dialog still brings once its question was withdrawn is no answer to it.
                        if !Task.isCancelled { await self.send(answer, to: cookie) }
                    } catch {
                        ready.resume(returning: .failure(error))
                    }
                    self.standing.withLock { _ = $0.removeValue(forKey: cookie) }
                }
            }
        }
        try result.get()
    }

    func withdraw(_ cookie: String) {
        standing.withLock { $0[cookie] }?.cancel()
    }

    func withdrawAll() {
        for task in standing.withLock({ Array($0.values) }) { task.cancel() }
    }

    /// The daemon refuses an answer that comes too late, and has said so to whoever asked; there is nobody else to tell.
    private func send(_ answer: PromptAnswer, to cookie: String) async {
        do throws(CaptureError) {
            try await deliver(answer, to: cookie)
        } catch  where error.code != .notPermitted && error.code != .unreachable {
            // Otherwise the question would stay open with nobody to answer it.
            try? await deliver(.dismissed, to: cookie)
        } catch {
            return
        }
    }

    private func deliver(_ answer: PromptAnswer, to cookie: String) async throws(CaptureError) {
        switch answer {
        case .withdrawn: return
        case .dismissed: try await daemon.consult("Dismiss", [.string(cookie)])
        case .confirmed(let action, let isConfirmed):
            try await give([action.rawValue: PersonsAnswer(isConfirmed)], to: cookie)
        case .picked(let answer):
            let lists: [BusValue] = [.strings(answer.picked), .strings(answer.dropped)]
            try await daemon.consult("AnswerPicked", [.string(cookie)] + lists)
        case .answered(let answers):
            let rows = answers.map { ($0.key.rawValue, $0.value) }
            try await give(Dictionary(uniqueKeysWithValues: rows), to: cookie)
        }
    }

    private func give(_ rows: [String: PersonsAnswer], to cookie: String) async throws(CaptureError) {
        let entries = rows.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), $0.value.busValue) }
        try await daemon.consult("Answer", [.string(cookie), .dictionary("sa{sv}", entries)])
    }
}
