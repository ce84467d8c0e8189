import BusSupport
import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

@testable import Authorization
@testable import CaptureService

extension AgentRegistry {
    /// A registry for which no program passes for the command line.
    init(on bus: PrivateBus, logins: LoginSessions) async throws {
        self.init(bus: try await bus.connect(), commandLine: .absent, logins: logins)
    }

    /// Asks about the camera, for a program called tool.
    func ask(
        for client: ClientIdentity,
        within time: Duration = .seconds(300)
    ) async throws(CaptureError) -> [Service: PersonsAnswer] {
        try await ask(
            PromptRequest(
                client: client,
                name: "tool",
                services: [.camera],
                reasons: [:],
                session: ":1.4711",
                deadline: .now + time
            )
        )
    }
}

extension ShippedProgram {
    /// That of a daemon without one.
    static var absent: ShippedProgram {
        ShippedProgram(path: "/nonexistent", root: SystemRoot(ofProcessOne: false))
    }
}

/// A registered agent that answers at once: yes, unless the test says otherwise.
final class YesAgent: Sendable {
    let bus: BusConnection
    private let asked: Count

    var timesAsked: Int { asked.value.withLock { $0 } }

    private final class Count: Sendable {
        let value = Mutex(0)
    }

    init(
        _ bus: PrivateBus,
        _ agents: AgentRegistry,
        as identity: ClientIdentity,
        _ answers: [Service: PersonsAnswer] = [.camera: true]
    ) async throws {
        let connection = try await BusConnection.open(bus.kind)
        let asked = Count()
        self.bus = connection
        self.asked = asked
        let name = connection.uniqueName
        try await connection.export(
            try BusObject(
                path: "/agent",
                [
                    BusImplementation(
                        CaptureInterfaces.agent,
                        methods: [
                            "Ask": { call throws(CaptureError) in
                                asked.value.withLock { $0 += 1 }
                                let rows = answers.map { ($0.key.rawValue, $0.value) }
                                try await agents.answer(
                                    call.arguments[0].text ?? "",
                                    from: name,
                                    Dictionary(uniqueKeysWithValues: rows)
                                )
                                return []
                            },
                            "Describe": { _ in [.dictionary("ss", [])] },
                            "Confirm": { _ throws(CaptureError) in
                                throw CaptureError(.nobodyToAsk, "nothing is confirmed")
                            },
                            "Pick": { _ throws(CaptureError) in
                                throw CaptureError(.nobodyToAsk, "nothing is picked")
                            },
                            "Cancel": { _ in [] },
                        ]
                    )
                ]
            )
        )
        try await agents.register(identity, connection: name, path: "/agent", isInline: false)
    }
}
