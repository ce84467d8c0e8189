import BusSupport
import CaptureCore
import CaptureSystem
import Foundation
import Testing

@testable import CaptureBus

/// Faults of the bus and of peers.
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    @Test func `no bus is unreachable`() async throws {
        #expect(await code { try await BusConnection.open(.address("unix:path=/nonexistent/bus")) } == .unreachable)
    }

    @Test func `a bus that hangs up on a user whom it does not know is told as that, with what to do`() {
        let dynamic = BusErrors.noGreeting(-ENOTCONN, .system, user: 61999)
        #expect(dynamic.code == .unreachable)
        #expect(dynamic.message.contains("user 61999, which systemd made for a unit with DynamicUser="))
        #expect(dynamic.message.contains("write 'u NAME' into /etc/sysusers.d/NAME.conf"))
        #expect(dynamic.message.contains("write 'User=NAME' in place of DynamicUser=yes"))
        let unknown = BusErrors.noGreeting(-ECONNRESET, .system, user: 3_999_999_999)
        #expect(unknown.message.contains("user 3999999999, and hung up"))
        for other in [(-ENOTCONN, UInt32(0)), (-ETIMEDOUT, 61999)] {
            let message = BusErrors.noGreeting(Int32(other.0), .system, user: other.1).message
            #expect(message.hasPrefix("greet the system bus: "))
        }
    }

    @Test func `a daemon that is not there is not running`() async throws {
        let client = try await bus.connect()
        let refusal = await #expect(throws: CaptureError.self) {
            try await client.call(CaptureNames.service, CaptureNames.root, CaptureNames.manager, "ListDevices")
        }
        #expect(refusal?.code == .unreachable)
        #expect(refusal?.message.contains("the capture daemon is not running") == true)
    }

    @Test func `a bus that dies fails every call and is told`() async throws {
        let (server, client) = try await serveClient(bus)
        let told = Collector<CaptureError>()
        client.onDisconnect { told.add($0) }
        let calls = (0..<5).map { _ in
            Task { try await client.ask(server, "Slow", "u", [.uint32(60000)]) }
        }
        _ = try await client.owner(of: server.uniqueName)
        bus.end()
        for call in calls {
            #expect(await code { try await call.value } == .unreachable)
        }
        #expect(await told.next().first?.code == .unreachable)
        #expect(await code { try await client.owner(of: server.uniqueName) } == .unreachable)
        let lateAgain = Collector<CaptureError>()
        client.onDisconnect { lateAgain.add($0) }
        #expect(await lateAgain.next().count == 1)
    }

    @Test func `a call that is not answered in time is unreachable`() async throws {
        let (server, client) = try await serveClient(bus)
        // Far longer than the call may take: an answer would be no failure.
        let failure = await #expect(throws: CaptureError.self) {
            try await client.call(
                server.uniqueName,
                path,
                echo.name,
                "Slow",
                signature: "u",
                [.uint32(30_000)],
                timeout: 0.2
            )
        }
        #expect(failure?.code == .unreachable)
    }

    @Test func `a server that leaves while it is asked is unreachable`() async throws {
        let (server, client) = try await serveClient(bus)
        let call = Task { try await client.ask(server, "Slow", "u", [.uint32(60000)]) }
        _ = try await client.owner(of: server.uniqueName)
        await server.close()
        #expect(await code { try await call.value } == .unreachable)
    }

    @Test func `a closed connection refuses without waiting`() async throws {
        let client = try await bus.connect()
        await client.close()
        await client.close()
        #expect(await code { try await client.owner(of: ":1.1") } == .unreachable)
        #expect(throws: CaptureError.self) {
            try client.emit(path, echo.name, "Happened", signature: "s", [.string("")])
        }
    }

    @Test func `a connection ends with its last reference`() async throws {
        let watcher = try await bus.connect()
        let gone = Collector<Bool>()
        var client: BusConnection? = try await bus.connect()
        let name = try #require(client?.uniqueName)
        let subscription = try await watcher.whenNameVanishes(name) { gone.add(true) }
        client = nil
        #expect(await gone.next() == [true])
        subscription.cancel()
    }

    @Test func `a name that is gone already vanishes at once`() async throws {
        let watcher = try await bus.connect()
        let gone = Collector<Bool>()
        let subscription = try await watcher.whenNameVanishes(":1.4711") { gone.add(true) }
        #expect(await gone.next() == [true])
        subscription.cancel()
    }

    @Test func `nobody forges a signal of a well-known name`() async throws {
        let (owner, forger, client) = (try await bus.connect(), try await bus.connect(), try await bus.connect())
        let heard = Collector<String>()
        let match = BusMatch(sender: "org.capturekit.Test", interface: echo.name)
        let subscription = try await client.subscribe(match) { heard.add($0.arguments.first?.text ?? "") }
        func say(_ connection: BusConnection, _ text: String) throws {
            try connection.emit(
                path,
                echo.name,
                "Happened",
                signature: "s",
                [.string(text)],
                to: client.uniqueName
            )
        }
        try say(forger, "before anyone owns it")
        // The bus orders what goes through it; an answer after the signal means that it is through.
        _ = try await forger.owner(of: client.uniqueName)
        try await owner.requestName("org.capturekit.Test")
        try say(forger, "while it is owned")
        _ = try await forger.owner(of: client.uniqueName)
        try say(owner, "true")
        #expect(await heard.next() == ["true"])
        subscription.cancel()
    }

    @Test func `an answer of the wrong type is an error and not sent`() async throws {
        let (server, client) = try await serveClient(bus)
        #expect(await code { try await client.ask(server, "Wrong", "", []) } == .internalFault)
    }

    @Test(arguments: ["Echo", "Fail", "Text", "Slow", "None"])
    func `arguments of other types are refused as invalid`(_ member: String) async throws {
        let (server, client) = try await serveClient(bus)
        let failure = await #expect(throws: CaptureError.self) {
            try await client.ask(server, member, "a(yd)", [.array("(yd)", [])])
        }
        #expect(failure?.code == (member == "None" ? .internalFault : .invalidArgument))
    }

    @Test func `values too deep or too many are refused and the connection lives`() async throws {
        let (server, client) = try await serveClient(bus)
        var deep = BusValue.byte(1)
        for _ in 0..<31 { deep = .variant(deep) }
        #expect(await code { try await client.ask(server, "Echo", "v", [.variant(deep)]) } == .invalidArgument)
        let many = BusValue.array("y", Array(repeating: .byte(0), count: 5000))
        #expect(await code { try await client.ask(server, "Echo", "v", [.variant(many)]) } == .invalidArgument)
        let long = BusValue.string(String(repeating: "x", count: 100_000))
        #expect(await code { try await client.ask(server, "Echo", "v", [.variant(long)]) } == .invalidArgument)
        #expect(try await client.ask(server, "Echo", "v", [.variant(.byte(7))]) == [.variant(.byte(7))])
    }

    @Test func `values that are no D-Bus values are refused before they are sent`() async throws {
        let (server, client) = try await serveClient(bus)
        let wrong: [BusValue] = [
            .string("a\0b"), .objectPath("no path"), .signature("!"), .array("s", [.byte(1)]),
            .dictionary("vs", []), .structure([]), .array("", []),
            .dictionary("sv", [BusEntry(.byte(1), .variant(.byte(1)))]),
        ]
        for value in wrong {
            await #expect(throws: CaptureError.self) { try await client.ask(server, "Echo", "v", [.variant(value)]) }
        }
        #expect(try await client.ask(server, "Echo", "v", [.variant(.byte(7))]) == [.variant(.byte(7))])
    }

    @Test func `random values come back as they were and random nonsense harms nobody`() async throws {
        let (server, client) = try await serveClient(bus)
        var random = SeededRandom(seed: 20)
        for _ in 0..<300 {
            let type = BusType.random(&random, depth: 0)
            let value = BusValue.random(type, &random)
            #expect(type.accepts(value))
            #expect(try await client.ask(server, "Echo", "v", [.variant(value)]) == [.variant(value)])
            #expect(try BusType.parse(type.signature) == [type])
        }
        for _ in 0..<2000 {
            let characters = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                "ybnqiuxtdsogahv(){}{az\u{0}".randomElement(using: &random) ?? "a"
            }
            let signature = String(characters)
            guard let types = try? BusType.parse(signature) else { continue }
            #expect(types.map(\.signature).joined() == signature)
        }
    }

    @Test func `a call waits as long as it is told to, and forever when told so`() {
        func microseconds(_ timeout: Double?) -> UInt64 {
            OutgoingCall(
                destination: "a.b",
                path: "/",
                interface: "a.b",
                member: "C",
                types: [],
                arguments: [],
                timeout: timeout
            ).microseconds
        }
        #expect(microseconds(nil) == 0)
        #expect(microseconds(25) == 25_000_000)
        #expect(microseconds(0) == 1000)
        #expect(microseconds(.infinity) == UInt64.max)
    }
}

struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

extension BusType {
    static func random(_ random: inout SeededRandom, depth: Int) -> BusType {
        let basic = Array("ybnqiuxtdsog".utf8)
        switch depth > 3 ? 0 : Int.random(in: 0...7, using: &random) {
        case 4: return .variant
        case 5: return .array(.random(&random, depth: depth + 1))
        case 6:
            return .structure(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in .random(&random, depth: depth + 1) }
            )
        case 7:
            let key = BusType.basic(basic[Int.random(in: 0..<basic.count, using: &random)])
            return .dictionary(key: key, value: .random(&random, depth: depth + 1))
        default: return .basic(basic[Int.random(in: 0..<basic.count, using: &random)])
        }
    }
}

extension BusValue {
    static func random(_ type: BusType, _ random: inout SeededRandom) -> BusValue {
        let count = Int.random(in: 0...3, using: &random)
        switch type {
        case .variant: return .variant(.random(.random(&random, depth: 3), &random))
        case .array(let element):
            return .array(element.signature, (0..<count).map { _ in .random(element, &random) })
        case .dictionary(let key, let value):
            return .dictionary(
                key.signature + value.signature,
                (0..<count).map { _ in BusEntry(.random(key, &random), .random(value, &random)) }
            )
        case .structure(let members): return .structure(members.map { .random($0, &random) })
        case .basic(let character):
            let number = UInt64.random(in: 0...UInt64.max, using: &random)
            switch Character(Unicode.Scalar(character)) {
            case "y": return .byte(UInt8(truncatingIfNeeded: number))
            case "b": return .bool(number % 2 == 0)
            case "n": return .int16(Int16(truncatingIfNeeded: number))
            case "q": return .uint16(UInt16(truncatingIfNeeded: number))
            case "i": return .int32(Int32(truncatingIfNeeded: number))
            case "u": return .uint32(UInt32(truncatingIfNeeded: number))
            case "x": return .int64(Int64(truncatingIfNeeded: number))
            case "t": return .uint64(number)
            case "d": return .double(Double(number) / 3)
            case "o": return .objectPath("/p\(number)")
            case "g": return .signature(["", "s", "a{sv}", "(ii)v"][count])
            default: return .string(["", "ä🎥", "'\"\\\n", "\(number)"][count])
            }
        }
    }
}
