import BusSupport
import CaptureBus
import CaptureCore
import CaptureMessages
import Dispatch
import Synchronization

@testable import CaptureService

/// An agent that counts what it is asked, and answers when the test says so. Thread-safe.
final class CountingAgent: Sendable {
    static let path = "/agent"

    private final class Desk: Sendable {
        let questions = Mutex<[(cookie: String, facts: [String: BusValue])]>([])
        let withdrawn = Mutex<[String]>([])
        let news = AsyncStream<Void>.makeStream()
        let mayReturn = AsyncStream<Void>.makeStream()
    }

    let connection: BusConnection
    private let desk = Desk()

    /// Lets a call return that it holds, where it does.
    func letGo() { desk.mayReturn.continuation.yield() }

    /// The cookies of the questions that were taken back.
    var withdrawn: [String] { desk.withdrawn.withLock { $0 } }

    /// Waits until its latest question was taken back; for one waiter.
    func wasWithdrawn() async {
        var news = desk.news.stream.makeAsyncIterator()
        while withdrawn.last != questions.last { await news.next() }
    }

    /// The questions that were put to it, each by its cookie.
    var questions: [String] { desk.questions.withLock { $0.map(\.cookie) } }

    /// What its latest question said.
    var facts: [String: BusValue] { desk.questions.withLock { $0.last?.facts ?? [:] } }

    /// - Parameters:
    ///   - picks: Whether it is asked what is to be picked; otherwise it closes that at once, and counts it not.
    ///   - holds: Whether the call by which a question is put returns when the test lets it go.
    init(on bus: PrivateBus, picks: Bool = true, holds: Bool = false) async throws {
        connection = try await BusConnection.open(bus.kind)
        let connection = connection
        let close: BusHandler = { call in
            let arguments = [call.arguments[0]]
            Task { try? await connection.callDaemon("Dismiss", "s", arguments) }
            return []
        }
        let take: BusHandler = { [desk] call in
            let (cookie, facts) = (call.arguments[0].text ?? "", call.arguments[1].properties ?? [:])
            desk.questions.withLock { $0.append((cookie, facts)) }
            desk.news.continuation.yield()
            if holds { for await _ in desk.mayReturn.stream { break } }
            return []
        }
        let object = try BusObject(
            path: Self.path,
            [
                BusImplementation(
                    CaptureInterfaces.agent,
                    methods: [
                        "Ask": take, "Describe": { _ in [.dictionary("ss", [])] }, "Confirm": take,
                        "Pick": picks ? take : close,
                        "Cancel": { [desk] call in
                            desk.withdrawn.withLock { $0.append(call.arguments[0].text ?? "") }
                            desk.news.continuation.yield()
                            return []
                        },
                    ]
                )
            ]
        )
        try await connection.export(object)
    }

    /// Answers its latest question.
    func answer(_ isAllowed: Bool) async throws {
        try await answer(["camera": ["allowed": .bool(isAllowed)]])
    }

    /// Confirms what its latest question is about, or not.
    func confirm(_ isConfirmed: Bool) async throws {
        try await answer(["delete": ["allowed": .bool(isConfirmed)]])
    }

    /// Answers its latest question row by row, as `Answer` takes it.
    func answer(_ answers: [String: [String: BusValue]]) async throws {
        let rows = answers.map { BusEntry(.string($0.key), .properties($0.value)) }
        try await call("Answer", "sa{sa{sv}}", [.string(questions.last ?? ""), .dictionary("sa{sv}", rows)])
    }

    /// Waits until that many questions were put to it; for one waiter.
    func wasAsked(_ count: Int) async {
        var news = desk.news.stream.makeAsyncIterator()
        while questions.count < count { await news.next() }
    }

    /// Closes its latest question.
    func dismiss() async throws { try await call("Dismiss", "s", [.string(questions.last ?? "")]) }

    /// Leaves the bus without a word, as a process does that is killed.
    func die() async { await connection.close() }

    @discardableResult
    func call(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async throws -> [BusValue] {
        try await connection.callDaemon(member, signature, arguments)
    }
}

/// A connection of a program that requests access, and hears what was decided. Thread-safe.
final class RequestingClient: Sendable {
    /// What a request came to: the code of the error, empty for none, and the status of the camera.
    struct Outcome: Hashable {
        var code: String
        var status: UInt32
    }

    private final class Heard: Sendable {
        let outcomes = Mutex<[UInt32: Outcome]>([:])
        let news = AsyncStream<Void>.makeStream()
    }

    private let connection: BusConnection
    private let heard = Heard()
    private let subscription: BusSubscription

    init(on bus: PrivateBus) async throws {
        connection = try await BusConnection.open(bus.kind)
        subscription = try await connection.hear("AccessDecided") { [heard] signal in
            let number = signal.arguments[0].unsigned.flatMap { UInt32(exactly: $0) } ?? 0
            let status = signal.arguments[3].properties?["camera"]?.unsigned ?? 99
            let outcome = Outcome(code: signal.arguments[1].text ?? "?", status: UInt32(clamping: status))
            heard.outcomes.withLock { $0[number] = outcome }
            heard.news.continuation.yield()
        }
    }

    /// Requests the camera that many times, all under way at one time.
    ///
    /// - Returns: The numbers of the requests.
    func request(_ count: Int) async throws -> Set<UInt32> {
        try await withThrowingTaskGroup(of: UInt32.self) { group in
            for index in 0..<count {
                group.addTask { [connection, heard] in
                    let camera = [BusValue.strings(["camera"])]
                    let answer = try await connection.callDaemon("RequestAccess", "as", camera, timeout: 600)
                    let number = UInt32(clamping: answer.first?.unsigned ?? 0)
                    if number != 0 { return number }
                    // It is authorized, and no signal follows: counted by a number that no request is given.
                    let own = UInt32.max - UInt32(index)
                    heard.outcomes.withLock { $0[own] = Outcome(code: "", status: 3) }
                    return own
                }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    /// What the requests came to, once all of them have; for one waiter.
    func outcomes(of numbers: Set<UInt32>) async -> [Outcome] {
        func all() -> [Outcome]? {
            let known = heard.outcomes.withLock { $0 }
            return numbers.isSubset(of: known.keys) ? numbers.compactMap { known[$0] } : nil
        }
        if let found = all() { return found }
        for await _ in heard.news.stream {
            if let found = all() { return found }
        }
        return []
    }
}
