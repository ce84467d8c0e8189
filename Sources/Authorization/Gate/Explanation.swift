public import CaptureCore

/// What decides about a program and a service, and what a start would do now.
public struct Explanation: Hashable, Sendable {
    /// What a start would do.
    public enum Outcome: Hashable, Sendable {
        /// Capture, without a question.
        case starts
        /// Ask the person, about the program of this name.
        case asks(name: String)
        /// Fail, with this.
        case refused(CaptureError)
    }

    /// What it is about.
    public var service: Service
    /// What stands between them.
    public var status: AuthorizationStatus
    /// The service whose answer or rule counts: another one where adding to the library follows from reading it.
    public var source: Service
    /// The answer that is stored about that, whether it counts or policy stands above it; `nil` when there is none.
    public var answer: StoredAnswer?
    /// What policy says about that.
    public var verdict: PolicyVerdict
    /// What a start would do.
    public var outcome: Outcome
    /// Whether the service is switched off for every program.
    public var isSwitchedOff = false

    /// What decides: the switch, the policy, the stored answer, or nothing yet.
    public var decider: Decider {
        if isSwitchedOff { return .switch }
        return switch verdict.decision {
        case .restrict: .policy
        case .allow where answer == nil: .policy
        default: answer == nil ? .nothing : .answer
        }
    }

    /// What can decide.
    public enum Decider: String, Hashable, Sendable {
        /// That the service is switched off.
        case `switch`
        /// A rule of the policy, or that it cannot be understood.
        case policy
        /// The stored answer.
        case answer
        /// Nothing yet: the person will be asked.
        case nothing
    }
}

extension AuthorizationGate {
    /// Explains a program that runs.
    public func explain(_ services: some Sequence<Service>, for client: ClientIdentity) async -> [Explanation] {
        let services = Array(services)
        let usages = await files.usages(of: client, for: services, session: "")
        let rows = Result { () throws(CaptureError) in Answers.strictest(try answers.counting(for: client)) }
        return services.map { explain($0, client, PolicySubject(client), rows, usages) }
    }

    /// Explains a program that is only named, as far as that goes: what is not known of it is in `verdict.possible`.
    ///
    /// - Parameters:
    ///   - user: Whom it would run as; `nil` when that is not known, as of a unit.
    /// - Throws: `invalidArgument` for what is no program's id.
    public func explain(
        _ services: some Sequence<Service>,
        program: String,
        user: UInt32?
    ) async throws(CaptureError) -> (client: ClientIdentity, explanations: [Explanation]) {
        let id = try ProgramID(program)
        var subject = PolicySubject(named: id, user: user)
        var client = ClientIdentity(
            program: program,
            tier: id.tier,
            user: subject.user ?? 0,
            name: program,
            detail: "named by its id; it need not be running"
        )
        client.executable = try await files.file(of: program)
        if let file = client.executable { subject.paths = [file.path] }
        let isBound = client.executable != nil
        // Without its file, of which an answer may hang, the strictest is shown, as in settings.
        let final = client
        let services = Array(services)
        let usages = await files.usages(of: final, for: services, session: "")
        let rows = Result { () throws(CaptureError) in
            let all = try answers.all(user: final.answerUser, program: program)
            return Answers.strictest(all.filter { !isBound || $0.counts(for: final) })
        }
        let whole = subject
        return (client, services.map { explain($0, final, whole, rows, usages) })
    }

    private func explain(
        _ service: Service,
        _ client: ClientIdentity,
        _ subject: PolicySubject,
        _ rows: Result<[Service: StoredAnswer], CaptureError>,
        _ usages: [Service: Result<UsageDescription, CaptureError>]
    ) -> Explanation {
        let known = (try? rows.get()) ?? [:]
        let counting = answers.policy.counting(service, known.mapValues(\.status), for: subject)
        var found = Explanation(
            service: service,
            status: .notDetermined,
            source: counting.source,
            answer: known[counting.source],
            verdict: answers.policy.verdict(on: subject, counting.source),
            outcome: .starts
        )
        do throws(CaptureError) {
            found.status = .restricted
            try answers.policy.refuseRestricted([service], to: subject)
            found.status = .notDetermined
            _ = try rows.get()
            found.status = counting.status
            switch found.status {
            case .authorized, .limited: break
            case .denied: throw Answers.denied([service], client)
            case .notDetermined, .restricted:
                let usage = try usages[service]?.get()
                // One that stands already would be shared.
                if questions[AnswerKey(client)] == nil, let refusal = questions.refusal(client) { throw refusal }
                found.outcome = .asks(name: DisplayText.neutralized(usage?.name ?? client.name, limit: 80))
            }
        } catch {
            found.outcome = .refused(error)
        }
        if let refusal = switchboard.switches.refusal([service]) {
            found.isSwitchedOff = true
            found.outcome = .refused(refusal)
        }
        return found
    }
}
