import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `Requests for access that wait` {
    private let bus: PrivateBus
    private let connection: BusConnection
    private let questions: AccessQuestions
    private var requests: LongRequests { questions.requests }

    init() async throws {
        bus = try PrivateBus()
        connection = try await BusConnection.open(bus.kind)
        questions = AccessQuestions(
            bus: connection,
            gate: AuthorizationGate(prompter: SilentPerson(), promptTimeout: .seconds(3600))
        )
    }

    private func client(_ connection: String, user: UInt32 = 1000) -> SessionClient {
        let identity = ClientIdentity(
            program: "exe:/home/me/tool",
            tier: .claimed,
            user: user,
            name: "tool",
            detail: "a test"
        )
        return SessionClient(identity: identity, connection: connection) { () throws(CaptureError) in identity }
    }

    private func fill(_ connection: String, user: UInt32 = 1000) async throws {
        for _ in 0..<LongRequests.Rules.access.mostOfConnection {
            _ = try await questions.begin([.camera], for: client(connection, user: user))
        }
    }

    @Test func `are so many of a connection, which makes room for others when it leaves`() async throws {
        try await fill(":1.1")
        #expect(await code { try await questions.begin([.camera], for: client(":1.1")) } == .busy)
        await requests.clientGone(":1.1")
        _ = try await questions.begin([.camera], for: client(":1.1"))
        await requests.clientGone(":1.1")
    }

    @Test func `are taken back one by one`() async throws {
        let numbers = [
            try await questions.begin([.camera], for: client(":1.1")),
            try await questions.begin([.camera], for: client(":1.1")),
        ]
        try await requests.cancel(numbers[0], of: ":1.1")
        // It goes when its question has, which nobody waits for here.
        try await until { (try? await requests.cancel(numbers[0], of: ":1.1")) == nil }
        for (number, connection) in [(numbers[0], ":1.1"), (numbers[1], ":1.2"), (77, ":1.1")] {
            #expect(await code { try await requests.cancel(number, of: connection) } == .invalidArgument)
        }
        try await requests.cancel(numbers[1], of: ":1.1")
        await requests.clientGone(":1.1")
    }

    @Test func `are so many of a user, whatever the number of connections, and others have their own`() async throws {
        let full = LongRequests.Rules.access.mostOfUser / LongRequests.Rules.access.mostOfConnection
        for number in 0..<full { try await fill(":1.\(number)") }
        #expect(await code { try await questions.begin([.camera], for: client(":1.99")) } == .busy)
        _ = try await questions.begin([.camera], for: client(":1.98", user: 1001))
        for connection in [":1.98"] + (0..<full).map({ ":1.\($0)" }) { await requests.clientGone(connection) }
    }

    /// Hears what a caller is told from now on.
    private func hear(_ member: String, _ caller: BusConnection) async throws -> AsyncStream<[BusValue]> {
        let (told, continuation) = AsyncStream<[BusValue]>.makeStream()
        let signals = try await caller.subscribe(BusMatch(member: member)) { continuation.yield($0.arguments) }
        continuation.onTermination = { _ in signals.cancel() }
        return told
    }

    @Test func `end with the daemon, and say so`() async throws {
        let caller = try await BusConnection.open(bus.kind)
        let told = try await hear("AccessDecided", caller)
        let number = try await questions.begin([.camera], for: client(caller.uniqueName))
        await requests.shutDown()
        let values = try #require(await told.first { _ in true })
        #expect(values[0] == .uint32(number) && values[1].text == "Unreachable")
        #expect(values[3].properties == ["camera": .uint32(0)])
        #expect(await code { try await questions.begin([.camera], for: client(caller.uniqueName)) } == .unreachable)
    }

    @Test func `keep no daemon from stopping, whatever never ends`() async throws {
        let caller = try await BusConnection.open(bus.kind)
        let told = try await hear("Finished", caller)
        let requests = LongRequests(.library, bus: connection)
        let (never, hold) = AsyncStream<Void>.makeStream()
        let answer = try await requests.answer(client(caller.uniqueName)) { _ throws(CaptureError) in
            // Cancelling does not end this.
            await Task { for await _ in never {} }.value
            return ["count": .uint64(1)]
        }
        await requests.shutDown(within: .milliseconds(20))
        hold.finish()
        let values = try #require(await told.first { _ in true })
        #expect(values[0] == answer[0] && values[1].text == "Unreachable")
        #expect(values[3].properties == [:])
    }

    @Test func `leave nothing of a caller that left before they were noted`() async throws {
        let gone = CaptureError(.notPermitted, "nobody has this name")
        let identity = client(":1.1").identity
        let left = SessionClient(identity: identity, connection: ":1.1") { () throws(CaptureError) in throw gone }
        let requests = LongRequests(.library, bus: connection)
        // A caller that is kept gets another number each time.
        #expect(try await requests.answer(left) { _ throws(CaptureError) in [:] } == [.uint32(1)])
        repeat {
            try await Task.sleep(for: .milliseconds(1))
        } while try await requests.answer(left) { _ throws(CaptureError) in [:] } != [.uint32(1)]
    }
}

/// Every program has a reason.
/// A person who never answers, until the question is taken back.
private struct SilentPerson: Prompter {
    func ask(_: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        try? await Task.sleep(for: .seconds(3600))
        throw CaptureError(.dismissed, "taken back")
    }
}
