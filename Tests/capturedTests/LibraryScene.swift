import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import MediaLibrary
import Synchronization
import Testing

@testable import captured

/// A program that uses the library, over the bus, call by call. Thread-safe.
final class LibraryCaller: Sendable {
    /// What came of a request.
    struct Outcome: Sendable {
        /// The code of the error, empty for none.
        var code: String
        var message: String
        var result: [String: BusValue]
    }

    let connection: BusConnection
    private let finished: AsyncStream<[BusValue]>
    private let told = Told()
    private let subscriptions: [BusSubscription]

    private final class Told: Sendable {
        let count = Mutex(0)
        func withLock<T>(_ body: (inout Int) -> T) -> T { count.withLock { body(&$0) } }
    }

    init(on bus: PrivateBus) async throws {
        connection = try await BusConnection.open(bus.kind)
        let (finished, ends) = AsyncStream<[BusValue]>.makeStream()
        self.finished = finished
        let match = { (member: String) in
            BusMatch(
                sender: CaptureNames.service,
                path: CaptureNames.root,
                interface: CaptureNames.library,
                member: member
            )
        }
        subscriptions = [
            try await connection.subscribe(match("Finished")) { ends.yield($0.arguments) },
            try await connection.subscribe(match("Changed")) { [told] _ in told.withLock { $0 += 1 } },
        ]
    }

    @discardableResult
    func call(_ member: String, _ signature: String = "", _ arguments: [BusValue] = []) async throws -> [BusValue] {
        try await connection.call(
            CaptureNames.service,
            CaptureNames.root,
            CaptureNames.library,
            member,
            signature: signature,
            arguments
        )
    }

    /// The error that a call is refused with.
    func fault(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async -> CaptureError? {
        do {
            try await call(member, signature, arguments)
            return nil
        } catch {
            return error as? CaptureError
        }
    }

    /// Begins an import.
    func begin(_ file: Descriptor, _ facts: [String: BusValue] = [:]) async throws -> UInt64 {
        let answer = try await call("Import", "ha{sv}", [.descriptor(file), .properties(facts)])
        return try #require(answer.first?.unsigned)
    }

    /// Imports a file and waits for what comes of it.
    func add(_ bytes: [UInt8], _ facts: [String: BusValue] = [:]) async throws -> Outcome {
        let number = try await begin(try LibraryFixtures.file(bytes), facts)
        return await outcome(of: number)
    }

    /// What came of a request; for one waiter at a time.
    func outcome(of number: UInt64) async -> Outcome {
        for await values in finished where values[0].unsigned == number {
            return Outcome(
                code: values[1].text ?? "?",
                message: values[2].text ?? "",
                result: values[3].properties ?? [:]
            )
        }
        return Outcome(code: "?", message: "", result: [:])
    }

    /// How often it was told of a change. What the daemon said before it answered a call has been heard with the answer.
    func notices() async throws -> Int {
        try await call("GetStatus", "s", [.string("")])
        return told.withLock { $0 }
    }

    /// The ids of what it finds, and its status.
    func found(_ query: [String: BusValue] = [:]) async throws -> (ids: [String], status: UInt64) {
        let answer = try await call("Fetch", "a{sv}", [.properties(query)])
        let assets = answer[0].elements?.compactMap(\.properties) ?? []
        return (assets.compactMap { $0["id"]?.text }, answer[2].unsigned ?? 99)
    }

    func count(_ query: [String: BusValue] = [:]) async throws -> UInt64 {
        try await call("Count", "a{sv}", [.properties(query)])[0].unsigned ?? 99
    }

    func token() async throws -> String { try await call("GetToken")[0].text ?? "" }

    /// The ids that a difference speaks of, by its keys, and the token to go on from.
    func changes(since token: String) async throws -> (ids: [String: Set<String>], next: String) {
        let answer = try await call("GetChanges", "su", [.string(token), .uint32(1000)])
        var ids: [String: Set<String>] = [:]
        for (key, value) in answer[0].properties ?? [:] {
            let those = value.texts ?? value.elements?.compactMap { $0.properties?["id"]?.text } ?? []
            if !those.isEmpty { ids[key] = Set(those) }
        }
        return (ids, answer[1].text ?? "")
    }

    /// What is in a descriptor that a call brings.
    func bytes(_ member: String, _ id: String, _ word: String) async throws -> [UInt8] {
        let file = try #require(try await call(member, "ss", [.string(id), .string(word)]).first?.file)
        return try LibraryFixtures.bytes(file)
    }
}

/// Files to import.
enum LibraryFixtures {
    /// A picture of one pixel whose color is the number.
    static func picture(_ number: UInt8) -> [UInt8] {
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, number, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]
            + [2, 2, 0x44, 1, 0, 0x3b]
    }

    /// A tenth of a second of silence at 8 kHz.
    static let sound: [UInt8] =
        Array("RIFF".utf8) + [0x44, 6, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0]
        + [0x80, 0x3e, 0, 0, 2, 0, 16, 0] + Array("data".utf8) + [0x40, 6, 0, 0] + [UInt8](repeating: 0, count: 1600)

    static func append(_ bytes: [UInt8], to item: LibraryImport) throws(CaptureError) {
        do {
            try unsafe bytes.withUnsafeBytes { try unsafe item.append($0) }
        } catch {
            throw error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
        }
    }

    /// A file without a name that has the bytes, open for reading.
    static func file(_ bytes: [UInt8]) throws -> Descriptor {
        let path = NSTemporaryDirectory() + "library-fixture-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { unsafe unlink(path) }
        return try Descriptor.open(path, O_RDONLY)
    }

    /// Everything in an open file.
    static func bytes(_ file: Descriptor) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
            if count == 0 { return all }
            all += buffer[..<count]
        }
    }

    static func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        let pipe = Pipe()
        return (
            try Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor)).duplicate(),
            try Descriptor(owning: dup(pipe.fileHandleForWriting.fileDescriptor)).duplicate()
        )
    }
}
