import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import MediaLibrary
import Synchronization
import Testing

@testable import CaptureKit
@testable import CaptureService

/// A program that uses the library, over the bus, call by call, and hears what came of its requests. Thread-safe.
final class LibraryCaller: Sendable {
    /// What a request came to: the code of the error, empty for none, and the result.
    struct Outcome: Sendable {
        var code: String
        var message: String
        var result: [String: BusValue]
    }

    /// What a request for access came to: the code of the error, empty for none, and the statuses by service.
    struct Decision: Sendable {
        var code: String
        var statuses: [String: UInt64]
    }

    private final class Heard: Sendable {
        let outcomes = Mutex<[UInt64: Outcome]>([:])
        let decided = Mutex<[UInt64: Decision]>([:])
        let notices = Mutex(0)
        let news = AsyncStream<Void>.makeStream()
    }

    let connection: BusConnection
    private let heard = Heard()
    private let subscriptions: [BusSubscription]

    init(on bus: PrivateBus) async throws {
        connection = try await BusConnection.open(bus.kind)
        let heard = heard
        subscriptions = [
            try await connection.hear("Finished", of: CaptureNames.library) { signal in
                let values = signal.arguments
                let outcome = Outcome(
                    code: values[1].text ?? "?",
                    message: values[2].text ?? "",
                    result: values[3].properties ?? [:]
                )
                heard.outcomes.withLock { $0[values[0].unsigned ?? 0] = outcome }
                heard.news.continuation.yield()
            },
            try await connection.hear("Changed", of: CaptureNames.library) { _ in heard.notices.withLock { $0 += 1 } },
            try await connection.hear("AccessDecided") { signal in
                let values = signal.arguments
                let statuses = (values[3].properties ?? [:]).compactMapValues(\.unsigned)
                let decision = Decision(code: values[1].text ?? "?", statuses: statuses)
                heard.decided.withLock { $0[values[0].unsigned ?? 0] = decision }
                heard.news.continuation.yield()
            },
        ]
    }

    @discardableResult
    func call(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = [],
        on interface: String = CaptureNames.library
    ) async throws -> [BusValue] {
        var passed = arguments
        var door: DescriptorDoor?
        if arguments.contains(where: \.passesDescriptor) {
            let opened = try await DescriptorDoor(of: connection, startsService: false)
            door = opened
            for index in passed.indices { passed[index] = try await opened.passing(passed[index]) }
        }
        defer { withExtendedLifetime(door) {} }
        let sent = String(signature.map { $0 == "h" ? "s" : $0 })
        return try await connection.callDaemon(member, sent, passed, on: interface)
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

    /// Begins a request.
    func begin(_ member: String, _ signature: String = "", _ arguments: [BusValue] = []) async throws -> UInt64 {
        try await call(member, signature, arguments).first?.unsigned ?? 0
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

    /// Has something picked.
    func pick(_ options: [String: BusValue] = [:]) async throws -> UInt64 {
        try await begin("Pick", "a{sv}", [.properties(options)])
    }

    /// Asks for access, to read the library by default.
    ///
    /// - Returns: The number of the request; 0 if all is authorized already.
    func requestAccess(_ services: Set<Service> = [.libraryReadWrite]) async throws -> UInt64 {
        let words = services.sorted().map(\.rawValue)
        return try await connection.callDaemon("RequestAccess", "as", [.strings(words)]).first?.unsigned ?? 0
    }

    /// What a request came to, once it has; for one waiter.
    func outcome(of number: UInt64) async -> Outcome {
        var news = heard.news.stream.makeAsyncIterator()
        while true {
            if let found = heard.outcomes.withLock({ $0[number] }) { return found }
            await news.next()
        }
    }

    /// What a request for access came to, once it has; for one waiter.
    func decision(of number: UInt64) async -> Decision {
        var news = heard.news.stream.makeAsyncIterator()
        while true {
            if let found = heard.decided.withLock({ $0[number] }) { return found }
            await news.next()
        }
    }

    /// Whether a request for access was decided yet.
    func isDecided(_ number: UInt64) -> Bool { heard.decided.withLock { $0[number] != nil } }

    /// The ids of what it finds.
    func fetch() async throws -> Set<String> {
        let rows = try await call("Fetch", "a{sv}", [.properties([:])]).first?.elements ?? []
        return Set(rows.compactMap { $0.properties?["id"]?.text })
    }

    /// Its status for a service; without one, that of the library without a level.
    func status(_ service: String = LibraryChoice.serviceName) async throws -> AuthorizationStatus? {
        try await connection.callDaemon("GetStatus", "s", [.string(service)]).first?.unsigned
            .flatMap { AuthorizationStatus(rawValue: UInt32(clamping: $0)) }
    }

    /// Sets what it may do with the library.
    func choose(_ choice: LibraryChoice) async throws { try await choose(choice, for: try await program()) }

    /// Sets what a program may do with the library.
    func choose(_ choice: LibraryChoice, for program: String) async throws {
        let words = ["", program, LibraryChoice.serviceName, choice.rawValue].map { BusValue.string($0) }
        try await connection.callDaemon("Set", "ssssa{sv}", words + [.properties([:])])
    }

    /// How often it was told of a change. What the daemon said before it answered a call has been heard with the answer.
    func notices() async throws -> Int {
        _ = try await status()
        return heard.notices.withLock { $0 }
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

    /// The name that it is known by.
    func program() async throws -> String {
        try #require(try await connection.callDaemon("WhoAmI").first?.properties?["program"]?.text)
    }

    /// What may be read from a descriptor that a call returned.
    func text(_ member: String, _ signature: String, _ arguments: [BusValue]) async throws -> String {
        guard let file = try await call(member, signature, arguments).first?.file else { return "" }
        return String(decoding: try FileHandle(fileDescriptor: file.descriptor).readToEnd() ?? Data(), as: UTF8.self)
    }

    /// Leaves the bus without a word.
    func die() async { await connection.close() }
}

extension ConsentScene {
    /// Puts a photo of these bytes into the library of the test's user, past the bus.
    @discardableResult
    func add(_ text: String, _ name: String, program: String = "exe:/usr/bin/other") async throws -> MediaAsset {
        try await libraries.use(getuid()) { library throws(CaptureError) in
            let item = try library.imports.begin(AssetDraft(name: name), program: program)
            let bytes = Array(text.utf8)
            unsafe bytes.withUnsafeBytes { buffer in
                _ = Result { unsafe try item.append(buffer) }
            }
            close(try item.finish())
            return try item.commit(
                ExaminedMedia(
                    kind: name.hasSuffix(".flac") ? .sound : .photo,
                    mediaType: name.hasSuffix(".flac") ? "audio/flac" : "image/jpeg",
                    codec: "mjpeg",
                    width: 640,
                    height: 480
                )
            )
        }
    }
}

extension CountingAgent {
    /// What it sees of the library by its latest question: names, and whether each is chosen.
    func browse(_ query: [String: BusValue] = [:]) async throws -> [String: Bool] {
        let rows = try await call("BrowseFor", "sa{sv}", [.string(questions.last ?? ""), .properties(query)]).first
        return Dictionary(
            (rows?.elements ?? []).compactMap(\.properties).map {
                ($0["name"]?.text ?? "", $0["chosen"]?.boolean ?? false)
            }
        ) { $1 }
    }

    /// Answers its latest question by what was picked.
    func pick(_ ids: [String], dropping dropped: [String] = []) async throws {
        try await call(
            "AnswerPicked",
            "sasas",
            [.string(questions.last ?? ""), .strings(ids), .strings(dropped)]
        )
    }
}
