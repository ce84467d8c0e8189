import CaptureCore
import Logging

extension AuthorizationGate {
    /// Waits for the program's open question, or puts one and waits for that.
    ///
    /// Each program has one open question at a time. A caller that needs another service waits for that question first,
    /// then asks about what is still undecided.
    ///
    /// - Parameter usage: What the program says about the services. Without it, this asks nothing and returns at once.
    /// - Throws: What prevented the answer, if the question was about any of the services.
    func waitForAnswer(
        to services: Set<Service>,
        _ usage: UsageDescription?,
        for client: ClientIdentity,
        session: String,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) {
        let key = AnswerKey(client)
        if prompts[key] == nil, let usage { try open(key, services, usage, for: client, session: session) }
        guard let prompt = prompts[key] else { return }
        let waiter = nextNumber()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(
                    key,
                    prompt.id,
                    waiter,
                    OpenPrompt.Waiter(continuation: continuation, again: again, client: client)
                )
            }
        } onCancel: {
            Task { await self.leave(key, prompt.id, waiter) }
        }
        let asked = services.intersection(prompt.services)
        switch outcome {
        case .decided(let decided):
            let open = asked.subtracting(decided)
            guard open.isEmpty else {
                throw CaptureError(.dismissed, "the question about \(phrase(open)) was closed without an answer")
            }
        case .failed(let error):
            if !asked.isEmpty || Task.isCancelled { throw error }
        }
    }

    private func open(
        _ key: AnswerKey,
        _ services: Set<Service>,
        _ usage: UsageDescription,
        for client: ClientIdentity,
        session: String
    ) throws(CaptureError) {
        let ordered = services.sorted()
        if let refusal = promptRefusal(client) { throw refusal }
        let id = nextNumber()
        book.put(key.programKey, id, at: now().sinceBoot)
        let request = PromptRequest(
            client: client,
            name: DisplayText.neutralized(usage.name ?? client.name, limit: 80),
            services: ordered,
            reasons: usage.reasons,
            session: session,
            deadline: .now + promptTimeout
        )
        log.debug("question \(id) goes to the person: \(client.program) wants \(ordered.map(\.rawValue))")
        let asking = Task { [prompter] in
            do throws(CaptureError) {
                let answers = try await prompter.ask(request)
                await self.answer(key, id, answers)
            } catch {
                self.finish(key, id, .failed(error))
            }
        }
        let timing = Task { [promptTimeout] in
            guard (try? await Task.sleep(for: promptTimeout)) != nil else { return }
            let why = "nobody answered within \(promptTimeout) whether \(request.name) may \(Service.action(services))"
            self.expire(key, id, CaptureError(.timedOut, why))
        }
        prompts[key] = OpenPrompt(
            id: id,
            services: services,
            reasons: request.reasons,
            sight: request.sight,
            tasks: [asking, timing]
        )
    }

    private func enter(_ key: AnswerKey, _ id: UInt64, _ number: UInt64, _ waiter: OpenPrompt.Waiter) {
        // Cancelled before it got here: `leave` has run, or will find nobody.
        guard !Task.isCancelled, prompts[key]?.id == id else {
            waiter.continuation.resume(returning: .failed(AuthorizationGate.requesterGone))
            abandonIfUnwanted(key, id)
            return
        }
        prompts[key]?.waiters[number] = waiter
    }

    private func leave(_ key: AnswerKey, _ id: UInt64, _ number: UInt64) {
        dismiss(key, id, number, AuthorizationGate.requesterGone)
    }

    /// Sends one who waits away; the question goes with the last.
    func dismiss(_ key: AnswerKey, _ id: UInt64, _ number: UInt64, _ error: CaptureError) {
        guard prompts[key]?.id == id, let waiter = prompts[key]?.waiters.removeValue(forKey: number) else { return }
        waiter.continuation.resume(returning: .failed(error))
        abandonIfUnwanted(key, id)
    }

    /// Takes the question away when nobody waits for its answer. One that was answered goes on: the answer either has
    /// somebody who stands for it by now, or comes to nothing by itself.
    private func abandonIfUnwanted(_ key: AnswerKey, _ id: UInt64) {
        guard let prompt = prompts[key], prompt.id == id, prompt.waiters.isEmpty, !prompt.isAnswered else { return }
        finish(key, id, .failed(AuthorizationGate.requesterGone))
    }

    private func expire(_ key: AnswerKey, _ id: UInt64, _ error: CaptureError) {
        guard prompts[key]?.id == id, prompts[key]?.isAnswered == false else { return }
        finish(key, id, .failed(error))
    }

    /// Takes an answer in: looks once more who asked, writes it down, then lets everybody know.
    private func answer(_ key: AnswerKey, _ id: UInt64, _ said: [Service: PersonsAnswer]) async {
        guard let prompt = prompts[key], prompt.id == id, !prompt.isAnswered else { return }
        // Where nobody was asked for that, an answer for chosen assets is none.
        let said = said.filter {
            prompt.services.contains($0.key) && (!$0.value.isLimited || $0.key.canBeLimited)
        }
        guard !said.isEmpty else {
            let why = "the question about \(phrase(prompt.services)) was closed without an answer"
            finish(key, id, .failed(CaptureError(.dismissed, why)))
            return
        }
        prompts[key]?.isAnswered = true
        guard let client = await unchangedRequester(key, id) else {
            finish(key, id, .failed(AuthorizationGate.changed))
            return
        }
        do throws(CaptureError) {
            if said[.libraryReadWrite]?.status == .limited {
                try await beforeLimiting?(client.answerUser, client.program)
            }
        } catch {
            let why = "the list of assets chosen for it earlier could not be cleared, so this answer does not count"
            finish(key, id, .failed(CaptureError(.inputOutput, "\(why): \(error.message)")))
            return
        }
        // Settings may have changed or the question been withdrawn while the requester was looked at.
        guard prompts[key]?.id == id else { return }
        let time = now()
        let rows = said.map { service, answer in
            StoredAnswer(
                user: client.answerUser,
                program: client.program,
                service: service,
                tier: client.tier,
                status: answer.status,
                reason: answer.isInline ? .inlineAnswer : .answer,
                time: time,
                executable: client.executable,
                detail: client.detail,
                usage: prompt.reasons[service],
                lifetime: answer.isAllowed ? answer.lifetime : .always
            )
        }
        let waiters = prompts[key]?.waiters.values.map(\.client) ?? []
        do throws(CaptureError) {
            try answers.put(rows, for: waiters)
        } catch {
            let why = "the answer could not be kept, so it does not count: \(error.message)"
            finish(key, id, .failed(CaptureError(.inputOutput, why)))
            return
        }
        keepTime()
        for cause in [Decision.Cause.answer, .inlineAnswer] {
            let those = said.filter { $0.value.isInline == (cause == .inlineAnswer) }
            let words = { (service: Service) in
                "the person said \(said[service]?.words ?? "no") to \(service.title) for \(client.program)"
            }
            reports.report(Set(those.keys), for: client, cause, words) { service in
                said[service]?.status ?? .denied
            }
        }
        // Who may read may add: that needs no answer of its own.
        let follows: Set<Service> = said[.libraryReadWrite]?.isAllowed == true ? [.libraryAdd] : []
        finish(key, id, .decided(follows.union(said.keys)))
    }

    /// The first of those who wait that still is who it was. Their prompt named the program on their word alone, so an
    /// answer counts only while one of them stands for it.
    private func unchangedRequester(_ key: AnswerKey, _ id: UInt64) async -> ClientIdentity? {
        var tried: Set<UInt64> = []
        while prompts[key]?.id == id, let next = prompts[key]?.waiters.first(where: { !tried.contains($0.key) }) {
            tried.insert(next.key)
            do throws(CaptureError) {
                try await confirm(next.value.client, next.value.again)
                return next.value.client
            } catch {
                // That one is refused when it looks for itself; another may still be who it was.
                continue
            }
        }
        return nil
    }

    /// How many requests wait for a person's answer now.
    public var waiterCount: Int {
        prompts.values.reduce(0) { $0 + $1.waiters.count }
    }

    /// Closes a question and tells everybody who waits.
    func finish(_ key: AnswerKey, _ id: UInt64, _ outcome: OpenPrompt.Outcome) {
        guard let prompt = prompts[key], prompt.id == id else { return }
        log.debug("question \(id) ends for \(prompt.waiters.count) requests: \(outcome)")
        prompts[key] = nil
        note(key, id, prompt, outcome)
        for task in prompt.tasks { task.cancel() }
        for waiter in prompt.waiters.values { waiter.continuation.resume(returning: outcome) }
    }

    static let requesterGone = CaptureError(
        .dismissed,
        "the program that asked no longer waits: it was stopped or went away"
    )
    static let changed = CaptureError(
        .notPermitted,
        "the program that asked is no longer the one that was identified, so it is refused"
    )
}
