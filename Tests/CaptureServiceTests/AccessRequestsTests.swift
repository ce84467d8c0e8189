import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(5))) struct `Requests for access that wait` {
    private let bus: PrivateBus
    private let requests: AccessRequests

    init() async throws {
        bus = try PrivateBus()
        requests = AccessRequests(
            bus: try await BusConnection.open(bus.kind),
            gate: AuthorizationGate(
                store: .inMemory(),
                usage: AnyReason(),
                prompter: SilentPerson(),
                promptTimeout: .seconds(3600)
            )
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
        for _ in 0..<AccessRequests.mostOfConnection {
            _ = try await requests.begin([.camera], for: client(connection, user: user))
        }
    }

    @Test func `are so many of a connection, which makes room for others when it leaves`() async throws {
        try await fill(":1.1")
        let error = await #expect(throws: CaptureError.self) {
            try await requests.begin([.camera], for: client(":1.1"))
        }
        #expect(error?.code == .busy)
        await requests.clientGone(":1.1")
        _ = try await requests.begin([.camera], for: client(":1.1"))
        await requests.clientGone(":1.1")
    }

    @Test func `are taken back one by one`() async throws {
        let numbers = [
            try await requests.begin([.camera], for: client(":1.1")),
            try await requests.begin([.camera], for: client(":1.1")),
        ]
        try await requests.cancel(numbers[0], of: ":1.1")
        // It goes when its question has, which nobody waits for here.
        while (try? await requests.cancel(numbers[0], of: ":1.1")) != nil { await Task.yield() }
        for (number, connection) in [(numbers[0], ":1.1"), (numbers[1], ":1.2"), (77, ":1.1")] {
            let error = await #expect(throws: CaptureError.self) { try await requests.cancel(number, of: connection) }
            #expect(error?.code == .invalidArgument)
        }
        try await requests.cancel(numbers[1], of: ":1.1")
        await requests.clientGone(":1.1")
    }

    @Test func `are so many of a user, whatever the number of connections, and others have their own`() async throws {
        let full = AccessRequests.mostOfUser / AccessRequests.mostOfConnection
        for number in 0..<full { try await fill(":1.\(number)") }
        let error = await #expect(throws: CaptureError.self) {
            try await requests.begin([.camera], for: client(":1.99"))
        }
        #expect(error?.code == .busy)
        _ = try await requests.begin([.camera], for: client(":1.98", user: 1001))
        for connection in [":1.98"] + (0..<full).map({ ":1.\($0)" }) { await requests.clientGone(connection) }
    }
}

/// Every program has a reason.
private struct AnyReason: UsageDescriptions {
    func description(of _: ClientIdentity, for services: [Service]) throws(CaptureError) -> UsageDescription {
        UsageDescription(reasons: Dictionary(uniqueKeysWithValues: services.map { ($0, "a test") }))
    }
}

/// A person who never answers, until the question is taken back.
private struct SilentPerson: Prompter {
    func ask(_: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        try? await Task.sleep(for: .seconds(3600))
        throw CaptureError(.dismissed, "taken back")
    }
}
