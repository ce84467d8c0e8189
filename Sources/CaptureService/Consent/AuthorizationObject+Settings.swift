import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// Consent changed by people, without a prompt.
extension AuthorizationObject {
    func set(_ call: BusCall) async throws(CaptureError) {
        let change = AnswerChange(
            user: try call.arguments.text(0),
            program: try call.arguments.text(1),
            service: try call.arguments.text(2),
            answer: try call.arguments.text(3),
            lifetime: try SetOptions(busValue: call.arguments.argument(4)).lifetime
        )
        try await set(for: try await callers.client(call.sender), change)
    }

    /// Stores a person's answer about a program.
    func set(for client: SessionClient, _ change: AnswerChange) async throws(CaptureError) {
        let user = try await Users.find(change.user, caller: client.identity)
        let (program, lifetime) = (change.program, change.lifetime)
        let answers = try AuthorizationObject.answers(change.service, change.answer)
        let owner = ClientIdentity.answerUser(of: program, user: user)
        // Whoever may not at all first; nobody types a password for what policy forbids anyway.
        try await settings.allow(client, on: owner, of: program)
        do throws(CaptureError) {
            try await store(answers, of: program, user: user, for: client, lifetime)
        } catch {
            guard error.code == .inputOutput, answers.values.allSatisfy({ $0 == .denied }) else { throw error }
            throw await gate.withdrawUnstored(
                user: user,
                program: program,
                services: Set(answers.keys),
                isDenied: true,
                after: error,
                awaitingFiles: client.isOnBus
            )
        }
        for (service, status) in answers.sorted(by: { $0.key < $1.key }) {
            await librarySettings.changed(service, to: status, of: program, user: owner)
            tell(status, for: service, user: owner, program: program)
        }
    }

    /// Stores answers, after polkit has asked for a password if they allow more than before.
    private func store(
        _ answers: [Service: AuthorizationStatus],
        of program: String,
        user: UInt32,
        for client: SessionClient,
        _ lifetime: GrantLifetime
    ) async throws(CaptureError) {
        let owner = ClientIdentity.answerUser(of: program, user: user)
        try await gate.checkSettable(user: user, program: program, answers)
        let loosens = try await gate.loosens(user: user, program: program, answers, lifetime: lifetime)
        let loosening = loosens ? AuthorizationObject.allowing(answers, program) : nil
        try await settings.allow(client, on: owner, of: program, loosening: loosening)
        if answers[.libraryReadWrite] == .limited, try await !gate.isLimited(user: owner, program: program) {
            try await librarySettings.forgetChosen(owner, program)
        }
        try await gate.set(
            user: user,
            program: program,
            answers,
            SettingOptions(
                lifetime: lifetime,
                most: client.identity.user == 0 ? nil : AuthorizationObject.mostSettings,
                // Nobody was asked whether it may: what stood a moment ago may have been tightened since.
                mayLoosen: loosens || client.identity.user == 0,
                author: SettingsAuthor(client.identity),
                awaitsFiles: client.isOnBus
            )
        )
    }

    /// Announces a changed answer to those it concerns. Works on without a bus, because the answer has changed anyway.
    private func tell(_ status: AuthorizationStatus, for service: Service, user: UInt32, program: String) {
        Journal.attempt("announce a changed answer") { () throws(CaptureError) in
            try listeners.tell(bus, of: status, for: service, user: user, program: program)
        }
    }

    /// What is to be set by the words for a service and an answer; of both levels of the library, a choice.
    private static func answers(
        _ name: String,
        _ word: String
    ) throws(CaptureError) -> [Service: AuthorizationStatus] {
        let shown = DisplayText.neutralized(word, limit: 64)
        guard name != LibraryChoice.serviceName else {
            guard let choice = LibraryChoice(rawValue: word) else {
                let known = LibraryChoice.allCases.map(\.rawValue).joined(separator: ", ")
                throw CaptureError(.invalidArgument, "unknown choice '\(shown)', expected one of \(known)")
            }
            return [.libraryAdd: choice.answers.add, .libraryReadWrite: choice.answers.readWrite]
        }
        let service = try Service(named: name, orLibrary: true)
        guard let status = AuthorizationStatus(word: word) else {
            throw CaptureError(.invalidArgument, "unknown answer '\(shown)', expected authorized or denied")
        }
        return [service: status]
    }

    /// What answers allow, in words that follow a "to".
    private static func allowing(_ answers: [Service: AuthorizationStatus], _ program: String) -> String {
        let allowed = answers.filter { $0.value.isYes }.keys
        return "let \(program) \(Service.action(allowed, isLimited: answers[.libraryReadWrite] == .limited))"
    }

    /// How many answers a user may set: a no is free, for whichever program, and nobody has that many of them.
    static let mostSettings = 10_000

    func reset(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let count = try await reset(
            for: try await callers.client(call.sender),
            user: try call.arguments.text(0),
            program: try call.arguments.text(1),
            service: try call.arguments.text(2)
        )
        return [.uint32(UInt32(clamping: count))]
    }

    /// Forgets answers; an empty text means the caller's own (root's: everybody's), every program, every service.
    ///
    /// - Returns: How many were forgotten.
    func reset(
        for client: SessionClient,
        user name: String,
        program: String,
        service word: String
    ) async throws(CaptureError) -> Int {
        let services: Set<Service> =
            switch word {
            case "": []
            case LibraryChoice.serviceName: Set(Service.ofLibrary)
            default: [try Service(named: word, orLibrary: true)]
            }
        // Without a name: one's own answers; root's "without a name" is everybody's.
        let user: UInt32? =
            name.isEmpty && client.identity.user == 0 ? nil : try await Users.find(name, caller: client.identity)
        let owner = user.map { program.isEmpty ? $0 : ClientIdentity.answerUser(of: program, user: $0) }
        let gone: [StoredAnswer]
        do throws(CaptureError) {
            gone = try await forget(services, of: program, user: owner, for: client)
        } catch {
            guard error.code == .inputOutput else { throw error }
            // Taking back takes no password. A no stays, because nothing can be stored.
            try await settings.allow(client, on: owner, of: program)
            throw await gate.withdrawUnstored(
                user: owner,
                program: program.isEmpty ? nil : program,
                services: services,
                isDenied: false,
                after: error,
                awaitingFiles: client.isOnBus
            )
        }
        for row in gone {
            await librarySettings.changed(row.service, to: .notDetermined, of: row.program, user: row.user)
            tell(.notDetermined, for: row.service, user: row.user, program: row.program)
        }
        return gone.count
    }

    /// Removes stored answers, after polkit has asked for a password if that forgets a no.
    private func forget(
        _ services: Set<Service>,
        of program: String,
        user owner: UInt32?,
        for client: SessionClient
    ) async throws(CaptureError) -> [StoredAnswer] {
        let denied = try await gate.list().filter { row in
            row.status == .denied && (owner == nil || row.user == owner)
                && (program.isEmpty || row.program == program) && (services.isEmpty || services.contains(row.service))
        }
        if !client.isOnBus, client.identity.user != 0 {
            // Polkit cannot ask this caller for a password. So each yes goes, and each no stays. Where there is only a no, the
            // guard below sends the caller to the bus.
            let gone = try await forget(services, of: program, user: owner, denials: [], for: client)
            if !gone.isEmpty || denied.isEmpty { return gone }
        }
        // A no that came since then was not named by the dialog, and stays.
        return try await forget(services, of: program, user: owner, denials: denied, for: client)
    }

    private func forget(
        _ services: Set<Service>,
        of program: String,
        user owner: UInt32?,
        denials denied: [StoredAnswer],
        for client: SessionClient
    ) async throws(CaptureError) -> [StoredAnswer] {
        let loosening = AuthorizationObject.forgetting(denied)
        try await settings.allow(client, on: owner, of: program, loosening: loosening)
        return try await gate.reset(
            user: owner,
            program: program.isEmpty ? nil : program,
            services: services,
            denials: client.identity.user == 0 ? nil : denied,
            by: SettingsAuthor(client.identity),
            awaitingFiles: client.isOnBus
        )
    }

    /// What forgetting answers makes possible; `nil` for nothing.
    private static func forgetting(_ denied: [StoredAnswer]) -> String? {
        guard let first = denied.first else { return nil }
        let others = denied.count > 1 ? " and \(denied.count - 1) more" : ""
        return "forget that \(first.program) was denied \(first.service.title)\(others)"
    }
}
