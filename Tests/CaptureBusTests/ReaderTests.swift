import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Properties of an object with readers` {
    private static let interface = BusInterface(
        "org.capturekit.Test.Read",
        methods: [],
        properties: [BusProperty("State", "s", emitsChange: true), BusProperty("Id", "u")],
        signals: []
    )
    private static let refusal = CaptureError(.noSuchSession, "there is no such thing")

    private let bus: PrivateBus
    private let server: BusConnection
    private let client: BusConnection

    init() async throws {
        bus = try PrivateBus()
        server = try await bus.connect()
        client = try await bus.connect()
    }

    private func export(
        _ path: String,
        admit: @escaping @Sendable (String) async throws(CaptureError) -> Bool
    ) async throws -> BusObject {
        let object = try BusObject(
            path: path,
            [BusImplementation(Self.interface, properties: ["State": .string("new"), "Id": .uint32(7)])],
            readers: BusReaders(refusal: Self.refusal, admit: admit)
        )
        try await server.export(object)
        return object
    }

    private func read(_ path: String, _ member: String, _ arguments: [String], by reader: BusConnection? = nil)
        async throws(CaptureError) -> [BusValue]
    {
        try await (reader ?? client).call(
            server.uniqueName,
            path,
            CaptureNames.properties,
            member,
            signature: String(repeating: "s", count: arguments.count),
            arguments.map { .string($0) }
        )
    }

    private let ways: [(String, [String])] = [
        ("Get", [interface.name, "Id"]), ("Get", [interface.name, "State"]), ("GetAll", [interface.name]),
        ("GetAll", [""]),
    ]

    @Test func `are read by those who may, and by nobody else in whichever way`() async throws {
        let name = client.uniqueName
        let other = try await bus.connect()
        _ = try await export("/guarded") { sender in sender == name }
        let all: [String: BusValue] = ["State": .string("new"), "Id": .uint32(7)]
        #expect(try await read("/guarded", "Get", [Self.interface.name, "Id"]) == [.variant(.uint32(7))])
        #expect(try await read("/guarded", "GetAll", [Self.interface.name]).first?.properties == all)
        #expect(try await read("/guarded", "GetAll", [""]).first?.properties == all)
        for (member, arguments) in ways {
            await #expect(throws: Self.refusal) { try await read("/guarded", member, arguments, by: other) }
        }
    }

    @Test func `are not read by who cannot be identified, who is told why`() async throws {
        let unknown = CaptureError(.notPermitted, "nobody knows who that is")
        _ = try await export("/guarded") { _ throws(CaptureError) in throw unknown }
        for (member, arguments) in ways {
            await #expect(throws: unknown) { try await read("/guarded", member, arguments) }
        }
    }

    @Test func `that are not there are an error`() async throws {
        _ = try await export("/guarded") { _ in true }
        let name = Self.interface.name
        let absent = [("Get", [name, "Name"]), ("Get", ["org.other", "Id"]), ("GetAll", ["org.other"])]
        for (member, arguments) in absent {
            #expect(await code { try await read("/guarded", member, arguments) } == .invalidArgument)
        }
        await #expect(throws: CaptureError.self) { try await read("/guarded", "Get", ["Id"]) }
    }

    @Test func `are read as they are when the reader was let, and not of what has left the bus`() async throws {
        let (may, opening) = AsyncStream<Void>.makeStream()
        let (asked, asking) = AsyncStream<Void>.makeStream()
        let object = try await export("/guarded") { _ in
            asking.yield()
            for await _ in may { break }
            return true
        }
        var questions = asked.makeAsyncIterator()
        async let first = read("/guarded", "Get", [Self.interface.name, "State"])
        await questions.next()
        try server.update(object, Self.interface.name, ["State": .string("running")])
        opening.yield()
        #expect(try await first == [.variant(.string("running"))])
        async let second = read("/guarded", "GetAll", [Self.interface.name])
        await questions.next()
        server.unexport("/guarded")
        opening.yield()
        do {
            _ = try await second
            Issue.record("what has left the bus was read")
        } catch {
            #expect(error as? CaptureError == Self.refusal)
        }
    }

    @Test func `are announced by their owner, which is nobody's reading`() async throws {
        let object = try await export("/guarded") { _ in false }
        let heard = Collector<[String: BusValue]>()
        let match = BusMatch(
            sender: server.uniqueName,
            path: "/guarded",
            interface: CaptureNames.properties,
            member: "PropertiesChanged"
        )
        let subscription = try await client.subscribe(match) { heard.add($0.arguments[1].properties ?? [:]) }
        try server.update(object, Self.interface.name, ["State": .string("running")])
        #expect(await heard.next() == [["State": .string("running")]])
        subscription.cancel()
    }
}
