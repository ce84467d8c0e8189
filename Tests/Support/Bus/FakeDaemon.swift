public import CaptureBus
public import CaptureCore
public import CaptureKit
import CaptureMessages
import CaptureSystem
import Synchronization

/// The daemon as far as a client can tell, played by the test.
public final class FakeDaemon: Sendable {
    /// What a method does.
    public typealias Answer = @Sendable (FakeDaemon, BusCall) async throws(CaptureError) -> [BusValue]

    /// A call that came, without the files that came along: thousands of them would stay open as long as it remembers.
    public struct Heard: Sendable {
        /// The caller's unique name.
        public let sender: String
        /// The method.
        public let member: String
        /// What came along; an empty text in the place of a file.
        public let arguments: [BusValue]

        init(_ call: BusCall) {
            sender = call.sender
            member = call.member
            arguments = call.arguments.map { $0.file == nil ? $0 : .string("") }
        }
    }

    /// The path of its one session.
    public static let session = CaptureNames.sessionPath(7)

    /// Its bus, which stays as long as it does.
    public let bus: PrivateBus
    /// Its connection.
    public let connection: BusConnection
    private let answers: [String: Answer]
    private let heard = Mutex<[Heard]>([])
    private let object = Mutex<BusObject?>(nil)
    private let doors = FakeDoors()

    /// Appears on a bus with a media library.
    ///
    /// - Parameters:
    ///   - answers: In place of the library's.
    ///   - bus: One of its own by default.
    public convenience init(
        _ library: FakeLibrary,
        replacing answers: [String: Answer] = [:],
        on bus: PrivateBus? = nil
    ) async throws {
        try await self.init(library.answers.merging(answers) { $1 }, on: bus)
    }

    /// Appears on a bus under the daemon's name.
    ///
    /// - Parameters:
    ///   - answers: By the methods' names; what is not given answers with nothing.
    ///   - bus: One of its own by default.
    public init(_ answers: [String: Answer] = [:], on bus: PrivateBus? = nil) async throws {
        let bus = try bus ?? PrivateBus()
        self.bus = bus
        connection = try await bus.connect()
        self.answers = answers
        let none: [String: BusValue] = [:]
        try await export(
            CaptureNames.root,
            [
                (CaptureInterfaces.manager, ["Version": .string("9.9"), "Synthetic": .bool(true)]),
                (CaptureInterfaces.authorization, none),
                (CaptureInterfaces.library, none),
            ]
        )
        let session = try await export(
            FakeDaemon.session,
            [
                (
                    CaptureInterfaces.session,
                    [
                        "Id": .uint32(7), "State": .string("configured"), "ReasonCode": .string(""),
                        "Reason": .string(""), "Program": .string("exe:/test"), "User": .uint32(0),
                        "Attached": .bool(true), "Description": .properties(none),
                    ]
                )
            ]
        )
        object.withLock { $0 = session }
        try await connection.requestName(CaptureNames.service)
    }

    /// A client's connection to it.
    public func client() async throws -> CaptureDaemon { try await CaptureDaemon.connect(to: bus.kind) }

    /// The calls of a method so far.
    public func calls(_ member: String) -> [Heard] { heard.withLock { $0.filter { $0.member == member } } }

    /// Waits for a method's first call.
    @discardableResult
    public func called(_ member: String) async -> Heard {
        while true {
            if let first = calls(member).first { return first }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Calls a method of the agent that registered last.
    ///
    /// - Parameters:
    ///   - cookie: Of the question.
    ///   - facts: What the agent is told about it; `nil` for methods that take the cookie alone.
    ///   - connection: Of a stranger; its own by default.
    public func callAgent(
        _ member: String,
        _ cookie: String,
        _ facts: [String: BusValue]? = nil,
        over connection: BusConnection? = nil
    ) async throws(CaptureError) {
        guard let agent = calls("RegisterAgent").last, let path = agent.arguments[0].text else {
            throw CaptureError(.nobodyToAsk, "no agent has registered")
        }
        _ = try await (connection ?? self.connection).call(
            agent.sender,
            path,
            CaptureNames.agentInterface,
            member,
            signature: facts == nil ? "s" : "sa{sv}",
            [.string(cookie)] + (facts.map { [.properties($0)] } ?? [])
        )
    }

    /// Tells a caller what became of its request for access.
    ///
    /// - Parameters:
    ///   - code: An error's, with a message; empty if there is none.
    ///   - statuses: By the names of services.
    public func decide(
        _ request: UInt32,
        _ code: String,
        _ message: String,
        _ statuses: [String: UInt32],
        to caller: String
    ) throws(CaptureError) {
        try connection.emit(
            CaptureNames.root,
            CaptureNames.authorization,
            "AccessDecided",
            signature: "ussa{su}",
            [
                .uint32(request), .string(code), .string(message),
                .dictionary("su", statuses.map { BusEntry(.string($0.key), .uint32($0.value)) }),
            ],
            to: caller
        )
    }

    /// Who hears of its session: who made it and who subscribed.
    public var listeners: [String] {
        Set(heard.withLock { $0.filter { ["CreateSession", "Subscribe"].contains($0.member) } }.map(\.sender)).sorted()
    }

    /// Puts the session into a state.
    public func become(_ state: SessionState, _ reason: CaptureError? = nil) throws(CaptureError) {
        guard let object = object.withLock({ $0 }) else { return }
        try connection.update(
            object,
            CaptureNames.session,
            [
                "State": .string(state.rawValue), "ReasonCode": .string(reason?.code.rawValue ?? ""),
                "Reason": .string(reason?.message ?? ""),
            ],
            to: listeners
        )
    }

    /// An answer that puts the session into states, one after the other.
    public static func becoming(_ states: SessionState...) -> Answer {
        { daemon, _ throws(CaptureError) in
            for state in states { try daemon.become(state) }
            return []
        }
    }

    /// Says that an output is in the media library, to who made the session.
    public func save(_ output: String, _ result: [String: BusValue]) throws(CaptureError) {
        for maker in Set(calls("CreateSession").map(\.sender)) {
            try connection.emit(
                FakeDaemon.session,
                CaptureNames.session,
                "OutputSaved",
                signature: "sa{sv}",
                [.string(output), .properties(result)],
                to: maker
            )
        }
    }

    /// Says that an output is at its end.
    public func finish(_ output: String, _ error: CaptureError? = nil, _ counters: OutputStatistics)
        throws(CaptureError)
    {
        let arguments: [BusValue] = [
            .string(output), .string(error?.code.rawValue ?? ""), .string(error?.message ?? ""), counters.busValue,
        ]
        for listener in listeners {
            try connection.emit(
                FakeDaemon.session,
                CaptureNames.session,
                "OutputFinished",
                signature: "sssa{sv}",
                arguments,
                to: listener
            )
        }
    }

    private func handler(of member: String) -> BusHandler {
        let answer = answers[member] ?? FakeDaemon.nothing
        // It has the objects whose handlers these are: with them it would never end, nor would what it was handed.
        return { [weak self] call throws(CaptureError) in
            guard let self else { throw CaptureError(.unreachable, "the test is over") }
            if call.member == "OpenDoor" { return try self.doors.open() }
            let passed = self.doors.passing(call)
            self.heard.withLock { $0.append(Heard(passed)) }
            return try await answer(self, passed)
        }
    }

    private static let nothing: Answer = { _, call in
        call.member == "CreateSession" ? [.objectPath(FakeDaemon.session)] : []
    }

    @discardableResult
    private func export(_ path: String, _ parts: [(BusInterface, [String: BusValue])]) async throws -> BusObject {
        let object = try BusObject(
            path: path,
            parts.map { interface, properties in
                var handlers: [String: BusHandler] = [:]
                for method in interface.methods { handlers[method.name] = handler(of: method.name) }
                var values = properties
                // Those that no test looks at.
                if interface.name == CaptureNames.authorization, values.isEmpty {
                    values["Switches"] = .dictionary("sb", [])
                }
                return BusImplementation(interface, methods: handlers, properties: values)
            }
        )
        try await connection.export(object)
        return object
    }
}

extension OutputFile {
    /// A file in the temporary folder that is never kept.
    public static func scratch() throws -> OutputFile {
        try OutputFile(creating: "/tmp/capturekit-test-\(UInt64.random(in: 0...UInt64.max))")
    }
}
