import CaptureCore
import Logging

/// Asks the person about services, and takes the answer in. Runs in turns of the gate.
struct Asking: Sendable {
    let prompter: any Prompter
    let reports: DecisionReports
    let now: @Sendable () -> AnswerTime

    /// Waits for the program's open question, or puts one and waits for that.
    ///
    /// Each program has one open question at a time. A caller that needs another service waits for that question first,
    /// then asks about what is still undecided.
    ///
    /// - Parameter usage: What the program says about the services. Without it, this asks nothing and returns at once.
    /// - Throws: What prevented the answer, if the question was about any of the services.
    func wait(
        to services: Set<Service>,
        _ usage: UsageDescription?,
        for requester: Requester,
        on gate: isolated AuthorizationGate
    ) async throws(CaptureError) {
        let key = AnswerKey(requester.client)
        if gate.questions[key] == nil, let usage { try open(key, services, usage, for: requester, on: gate) }
        guard let prompt = gate.questions[key] else { return }
        let waiter = gate.questions.nextNumber()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = OpenPrompt.Waiter(continuation: continuation, requester: requester)
                gate.questions.enter(key, prompt.id, waiter, waiting)
            }
        } onCancel: {
            Task { await gate.leave(key, prompt.id, waiter) }
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
        for requester: Requester,
        on gate: isolated AuthorizationGate
    ) throws(CaptureError) {
        let client = requester.client
        let ordered = services.sorted()
        let id = try gate.questions.begin(for: client)
        let promptTimeout = gate.questions.timeout
        let request = PromptRequest(
            client: client,
            name: DisplayText.neutralized(usage.name ?? client.name, limit: 80),
            services: ordered,
            reasons: usage.reasons,
            bridge: usage.bridge,
            session: requester.session,
            deadline: .now + promptTimeout
        )
        let way = usage.bridge.map { " through \($0.title)" } ?? ""
        log.debug("question \(id) goes to the person: \(client.program) wants \(ordered.map(\.rawValue))\(way)")
        let asking = Task {
            do throws(CaptureError) {
                let answers = try await prompter.ask(request)
                await self.answer(key, id, answers, on: gate)
            } catch {
                gate.questions.finish(key, id, .failed(error))
            }
        }
        let timing = Task {
            guard (try? await Task.sleep(for: promptTimeout)) != nil else { return }
            let why = "nobody answered within \(promptTimeout) whether \(request.name) may \(Service.action(services))"
            gate.questions.expire(key, id, CaptureError(.timedOut, why))
        }
        let prompt = OpenPrompt(
            id: id,
            services: services,
            reasons: request.reasons,
            sight: request.sight,
            tasks: [asking, timing]
        )
        gate.questions.put(key, prompt)
    }

    /// Takes an answer in: looks once more who asked, writes it down, then lets everybody know.
    private func answer(
        _ key: AnswerKey,
        _ id: UInt64,
        _ said: [Service: PersonsAnswer],
        on gate: isolated AuthorizationGate
    ) async {
        guard let prompt = gate.questions[key], prompt.id == id, !prompt.isAnswered else { return }
        // An answer for chosen assets does not count if the question did not offer that.
        let said = said.filter {
            prompt.services.contains($0.key) && (!$0.value.isLimited || $0.key.canBeLimited)
        }
        guard !said.isEmpty else {
            let why = "the question about \(phrase(prompt.services)) was closed without an answer"
            gate.questions.finish(key, id, .failed(CaptureError(.dismissed, why)))
            return
        }
        gate.questions.noteAnswer(key)
        guard let client = await unchangedRequester(key, id, on: gate) else {
            gate.questions.finish(key, id, .failed(.requesterChanged))
            return
        }
        do throws(CaptureError) {
            if said[.libraryReadWrite]?.status == .limited {
                try await gate.beforeLimiting?(client.answerUser, client.program)
            }
        } catch {
            let why = "the list of assets chosen for it earlier could not be cleared, so this answer does not count"
            gate.questions.finish(key, id, .failed(CaptureError(.inputOutput, "\(why): \(error.message)")))
            return
        }
        // Settings may have changed or the question been withdrawn while the requester was looked at.
        guard gate.questions[key]?.id == id else { return }
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
        let waiters = gate.questions[key]?.waiters.values.map(\.requester.client) ?? []
        do throws(CaptureError) {
            try gate.answers.put(rows, for: waiters)
        } catch {
            let why = "the answer could not be kept, so it does not count: \(error.message)"
            gate.questions.finish(key, id, .failed(CaptureError(.inputOutput, why)))
            return
        }
        gate.keepTime()
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
        gate.questions.finish(key, id, .decided(follows.union(said.keys)))
    }

    /// The first of those who wait that still is who it was. Their prompt named the program on their word alone, so an
    /// answer counts only while one of them stands for it.
    private func unchangedRequester(
        _ key: AnswerKey,
        _ id: UInt64,
        on gate: isolated AuthorizationGate
    ) async -> ClientIdentity? {
        var tried: Set<UInt64> = []
        while gate.questions[key]?.id == id,
            let next = gate.questions[key]?.waiters.first(where: { !tried.contains($0.key) })
        {
            tried.insert(next.key)
            do throws(CaptureError) {
                try await next.value.requester.confirm()
                return next.value.requester.client
            } catch {
                // That one is refused when it looks for itself; another may still be who it was.
                continue
            }
        }
        return nil
    }
}
