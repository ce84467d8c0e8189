@testable import Authorization
import CaptureCore
import Foundation
import Synchronization
import TestSupport

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("consent-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try? FileManager.default.removeItem(atPath: path)
    }

    @discardableResult
    func write(_ name: String, _ text: String, mode: Int = 0o644) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}

extension TemporaryFolder {
    /// A store whose file is no database.
    func damagedStore() throws -> AuthorizationStore {
        try write(AuthorizationStore.fileName, "not a database, but long enough to look at", mode: 0o600)
        return AuthorizationStore(directory: path)
    }
}

/// A person who is asked, and answers when the test says so.
final class Person: Prompter {
    private struct Desk {
        var asked: [PromptRequest] = []
        var waiting: [CheckedContinuation<Result<[Service: PersonsAnswer], CaptureError>, Never>] = []
        var withdrawn = 0
        var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
        var reasons: [Service: String] = [:]
        var bridge: Bridge?
        var looks = 0
    }

    private let desk = Mutex(Desk())

    var asked: [PromptRequest] { desk.withLock { $0.asked } }
    var withdrawn: Int { desk.withLock { $0.withdrawn } }

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        request.sight.note()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = desk.withLock { desk in
                    desk.asked.append(request)
                    desk.waiting.append(continuation)
                    let ready = desk.watchers.filter { $0.count <= desk.asked.count }
                    desk.watchers.removeAll { $0.count <= desk.asked.count }
                    return ready
                }
                for watcher in ready { watcher.1.resume() }
            }
        } onCancel: {
            desk.withLock { $0.withdrawn += 1 }
            settle(.failure(CaptureError(.dismissed, "withdrawn")))
        }
        return try result.get()
    }

    func reasons(of client: ClientIdentity, for services: [Service], session: String) async -> UsageDescription {
        desk.withLock { desk in
            desk.looks += 1
            return UsageDescription(reasons: desk.reasons, bridge: desk.bridge)
        }
    }

    /// How often it looked for reasons.
    var looks: Int { desk.withLock { $0.looks } }

    /// What it finds that a program says.
    func knows(_ reasons: [Service: String], bridge: Bridge? = nil) {
        desk.withLock { ($0.reasons, $0.bridge) = (reasons, bridge) }
    }

    /// Waits until that many questions were put.
    func wasAsked(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = desk.withLock { desk in
                if desk.asked.count >= count { return true }
                desk.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func answers(_ answers: [Service: PersonsAnswer]) { settle(.success(answers)) }

    func fails(_ code: CaptureError.Code) { settle(.failure(CaptureError(code, "as the test says"))) }

    private func settle(_ result: Result<[Service: PersonsAnswer], CaptureError>) {
        let waiting = desk.withLock { desk in
            defer { desk.waiting = [] }
            return desk.waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }
}

/// What the gate decided.
final class DecisionLog: Sendable {
    private let log = Mutex<[Decision]>([])
    var decisions: [Decision] { log.withLock { $0 } }
    func note(_ decision: Decision) { log.withLock { $0.append(decision) } }
}

extension ClientIdentity {
    static func program(
        _ path: String = "/usr/bin/cheese",
        user: UInt32 = 1000,
        inode: UInt64 = 7,
        changed: Int64? = 5,
        isProtected: Bool = true,
        pid: Int32 = 100
    ) -> ClientIdentity {
        ClientIdentity(
            program: "exe:" + path,
            tier: .claimed,
            user: user,
            name: "cheese",
            detail: "the session 3; runs \(path)",
            executable: ExecutableFile(
                path: path,
                device: 1,
                inode: inode,
                changed: changed,
                isProtected: isProtected
            ),
            pid: pid
        )
    }

    static func app(_ id: String, runs path: String, isProtected: Bool = true) -> ClientIdentity {
        ClientIdentity(
            program: "app:" + id,
            tier: .claimed,
            user: 1000,
            name: id,
            detail: "the unit app-\(id)-1.scope; runs \(path)",
            executable: ExecutableFile(path: path, device: 1, inode: 9, changed: 5, isProtected: isProtected),
            pid: 200
        )
    }
}

extension AuthorizationGate {
    /// What is stored when a person has said yes to a program.
    func keep(_ services: Set<Service>, for client: ClientIdentity) throws {
        let rows = services.map { service in
            StoredAnswer(
                user: client.answerUser,
                program: client.program,
                service: service,
                tier: client.tier,
                status: .authorized,
                reason: .answer,
                time: .now,
                executable: client.executable,
                detail: client.detail
            )
        }
        try answers.put(rows, for: [])
    }

    /// A request of a client that stays who it is.
    func request(
        _ services: Set<Service>,
        _ client: ClientIdentity = .program()
    ) async throws(CaptureError) -> [Service: Grant] {
        try await requestAccess(services, for: Requester(client: client, session: "3") { client })
    }
}
