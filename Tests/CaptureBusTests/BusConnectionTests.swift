import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import Testing

let echo = BusInterface(
    "org.capturekit.Test.Echo",
    methods: [
        BusMethod("Echo", [BusArgument("value", "v")], returns: [BusArgument("same", "v")]),
        BusMethod("Fail", [BusArgument("code", "s")]),
        BusMethod("Text", [BusArgument("file", "h")], returns: [BusArgument("text", "s"), BusArgument("back", "h")]),
        BusMethod("Slow", [BusArgument("milliseconds", "u")], returns: [BusArgument("order", "u")]),
        BusMethod("Wrong", returns: [BusArgument("text", "s")]),
    ],
    properties: [BusProperty("State", "s", emitsChange: true), BusProperty("Id", "u")],
    signals: [BusSignalDeclaration("Happened", [BusArgument("what", "s")])]
)

let path = "/org/capturekit/Test"

/// An object that answers, at a connection of its own.
func serve(_ bus: PrivateBus) async throws -> (BusConnection, BusObject) {
    let connection = try await bus.connect()
    let count = Counter()
    let handlers: [String: BusHandler] = [
        "Echo": { call in call.arguments },
        "Fail": { call throws(CaptureError) in
            throw CaptureError(.init(rawValue: call.arguments[0].text ?? ""), "it was asked to")
        },
        "Text": { call throws(CaptureError) in
            guard let file = call.arguments[0].file else { throw CaptureError(.badData, "no file") }
            let handle = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
            return [.string(String(decoding: handle.availableData, as: UTF8.self)), .descriptor(file)]
        },
        "Slow": { call in
            let time = call.arguments[0].integer ?? 0
            try? await Task.sleep(for: .milliseconds(time))
            return [.uint32(await count.next())]
        },
        "Wrong": { _ in [.uint32(1)] },
    ]
    let object = try BusObject(
        path: path,
        [BusImplementation(echo, methods: handlers, properties: ["State": .string("new"), "Id": .uint32(7)])]
    )
    try await connection.export(object)
    return (connection, object)
}

/// An object that answers, and a connection that calls it.
func serveClient(_ bus: PrivateBus) async throws -> (server: BusConnection, client: BusConnection) {
    (try await serve(bus).0, try await bus.connect())
}

actor Counter {
    private var value: UInt32 = 0
    func next() -> UInt32 {
        value += 1
        return value
    }
}

extension BusConnection {
    func ask(_ server: BusConnection, _ member: String, _ signature: String, _ arguments: [BusValue]) async throws
        -> [BusValue]
    {
        // Many tests at a time may have a machine of few processors.
        try await call(server.uniqueName, path, echo.name, member, signature: signature, arguments, timeout: 120)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct BusConnectionTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    @Test func `a call is answered with the values it carried`() async throws {
        let (server, client) = try await serveClient(bus)
        let value = BusValue.properties([
            "text": .string("grün 🎥"), "numbers": .array("x", [.int64(.min), .int64(.max)]),
            "nested": .properties(["pair": .structure([.byte(1), .double(-0.5), .bool(true)])]),
            "path": .objectPath("/a/b"), "signature": .signature("a{sv}"), "empty": .array("(sh)", []),
            "small": .structure([.int16(-3), .uint16(3), .int32(-4), .uint32(4), .uint64(.max)]),
            "map": .dictionary("ux", [BusEntry(.uint32(1), .int64(-1)), BusEntry(.uint32(2), .int64(5))]),
            "variant": .variant(.variant(.string("deep"))),
        ])
        let answer = try await client.ask(server, "Echo", "v", [.variant(value)])
        #expect(answer == [.variant(value)])
    }

    @Test func `both sides of one bus call each other`() async throws {
        let (first, _) = try await serve(bus)
        let (second, _) = try await serve(bus)
        async let there = first.ask(second, "Echo", "v", [.variant(.uint32(1))])
        async let back = second.ask(first, "Echo", "v", [.variant(.uint32(2))])
        #expect(try await there == [.variant(.uint32(1))])
        #expect(try await back == [.variant(.uint32(2))])
    }

    @Test func `a hundred calls at one time get their own answers`() async throws {
        let (server, client) = try await serveClient(bus)
        try await withThrowingTaskGroup(of: (UInt32, [BusValue]).self) { group in
            for number in 0..<UInt32(100) {
                group.addTask { (number, try await client.ask(server, "Echo", "v", [.variant(.uint32(number))])) }
            }
            for try await (number, answer) in group { #expect(answer == [.variant(.uint32(number))]) }
        }
    }

    @Test func `an error arrives with its code and sentence`() async throws {
        let (server, client) = try await serveClient(bus)
        for code in [CaptureError.Code.denied, .busy, .missingUsageDescription, .noSuchDevice] {
            await #expect(throws: CaptureError(code, "it was asked to")) {
                try await client.ask(server, "Fail", "s", [.string(code.rawValue)])
            }
        }
    }

    @Test func `a descriptor arrives with its content and goes back`() async throws {
        let (server, client) = try await serveClient(bus)
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("through the bus".utf8))
        let file = Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor))
        let answer = try await client.ask(server, "Text", "h", [.descriptor(file)])
        #expect(answer[0] == .string("through the bus"))
        let back = try #require(answer[1].file)
        #expect(back.descriptor != file.descriptor)
        #expect(fcntl(back.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        pipe.fileHandleForWriting.write(Data("again".utf8))
        let handle = FileHandle(fileDescriptor: back.descriptor, closeOnDealloc: false)
        #expect(String(decoding: handle.availableData, as: UTF8.self) == "again")
    }

    @Test func `no descriptor is left open by calls that carry one`() async throws {
        let (server, client) = try await serveClient(bus)
        let pipe = Pipe()
        func carry() async throws {
            pipe.fileHandleForWriting.write(Data("x".utf8))
            let file = Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor))
            _ = try await client.ask(server, "Text", "h", [.descriptor(file)])
        }
        try await carry()
        let number = pipe.fileHandleForReading.fileDescriptor
        var status = stat()
        unsafe fstat(number, &status)
        let node = status.st_ino
        for _ in 0..<50 { try await carry() }
        // The bus thread lets go of the last message after it has answered.
        _ = try await client.ask(server, "Echo", "v", [.variant(.byte(0))])
        let open = (0..<1024).filter { number in
            var status = stat()
            return unsafe fstat(Int32(number), &status) == 0 && status.st_ino == node
        }
        #expect(open.count <= 4)
    }

    @Test func `calls of one sender are answered in their order and those of others meanwhile`() async throws {
        let (server, _) = try await serve(bus)
        let (client, other) = (try await bus.connect(), try await bus.connect())
        async let slow = client.ask(server, "Slow", "u", [.uint32(15_000)])
        try await Task.sleep(for: .milliseconds(50))
        async let second = client.ask(server, "Slow", "u", [.uint32(0)])
        let overtaking = try await other.ask(server, "Slow", "u", [.uint32(0)])
        #expect(overtaking == [.uint32(1)])
        #expect(try await slow == [.uint32(2)])
        #expect(try await second == [.uint32(3)])
    }

    @Test func `signals are heard by who subscribed`() async throws {
        let (server, client) = try await serveClient(bus)
        let heard = Collector<String>()
        let match = BusMatch(sender: server.uniqueName, path: path, interface: echo.name, member: "Happened")
        let subscription = try await client.subscribe(match) { heard.add($0.arguments.first?.text ?? "") }
        try server.emit(path, echo.name, "Happened", signature: "s", [.string("one")])
        try server.emit(path, echo.name, "Happened", signature: "s", [.string("two")], to: client.uniqueName)
        #expect(await heard.next(2) == ["one", "two"])
        subscription.cancel()
    }

    @Test func `a changed property is announced and read back`() async throws {
        let (server, object) = try await serve(bus)
        let client = try await bus.connect()
        let heard = Collector<[String: BusValue]>()
        let match = BusMatch(
            sender: server.uniqueName,
            path: path,
            interface: CaptureNames.properties,
            member: "PropertiesChanged"
        )
        let subscription = try await client.subscribe(match) { heard.add($0.arguments[1].properties ?? [:]) }
        try server.update(object, echo.name, ["State": .string("running")])
        #expect(await heard.next() == [["State": .string("running")]])
        let all = try await client.call(
            server.uniqueName,
            path,
            CaptureNames.properties,
            "GetAll",
            signature: "s",
            [.string(echo.name)]
        )
        #expect(all.first?.properties == ["State": .string("running"), "Id": .uint32(7)])
        subscription.cancel()
    }

    @Test func `a changed property is announced to those alone to whom it is said to be`() async throws {
        let (server, object) = try await serve(bus)
        let (client, other) = (try await bus.connect(), try await bus.connect())
        let (heard, overheard) = (Collector<BusSignal>(), Collector<BusSignal>())
        let match = BusMatch(sender: server.uniqueName, path: path)
        let subscriptions = [
            try await client.subscribe(match) { heard.add($0) },
            try await other.subscribe(match) { overheard.add($0) },
        ]
        try server.update(object, echo.name, ["State": .string("running")], to: [client.uniqueName])
        try server.update(object, echo.name, ["State": .string("paused")], to: [])
        try server.emit(path, echo.name, "Happened", signature: "s", [.string("to everyone")])
        let signals = await heard.next(2)
        #expect(signals.map(\.member) == ["PropertiesChanged", "Happened"])
        let change: [BusValue] = [
            .string(echo.name), .dictionary("sv", [BusEntry(.string("State"), .variant(.string("running")))]),
            .array("s", []),
        ]
        #expect(signals.first?.arguments == change)
        #expect(await overheard.next().map(\.member) == ["Happened"])
        #expect(object.property("State", of: echo.name) == .string("paused"))
        withExtendedLifetime(subscriptions) {}
    }

    @Test func `a second owner of a name is refused`() async throws {
        let (first, second) = (try await bus.connect(), try await bus.connect())
        try await first.requestName("org.capturekit.Test")
        #expect(await code { try await second.requestName("org.capturekit.Test") } == .busy)
    }

    @Test func `a name that the bus's policy forbids is refused`() async throws {
        let bus = try PrivateBus(policy: "<busconfig/>")
        let connection = try await bus.connect()
        #expect(await code { try await connection.requestName("org.capturekit.Test") } == .notPermitted)
    }

    @Test func `a close is told to those alone who still watch for it`() async throws {
        let connection = try await bus.connect()
        let told = Collector<Int>()
        let first = try await connection.watchClose { _ in told.add(1) }
        let second = try await connection.watchClose { _ in told.add(2) }
        first.cancel()
        connection.onClose { _ in told.add(3) }
        await connection.close()
        #expect(await told.next(2) == [2, 3])
        withExtendedLifetime(second) {}
        #expect(await code { try await connection.watchClose { _ in } } == .unreachable)
    }
}
