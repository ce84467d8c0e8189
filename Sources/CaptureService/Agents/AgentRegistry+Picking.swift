import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages

/// What agents have a person pick from the media library.
extension AgentRegistry {
    func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
        let call = AgentCall(
            member: "Pick",
            client: question.client,
            connection: question.session,
            services: question.taking?.services.sorted() ?? [.libraryReadWrite],
            words: [],
            picking: question,
            sight: question.sight
        )
        let (agent, reply) = try await put(call) { AgentRegistry.describe(question, isInline: $0) }
        guard case .picked(let assets) = reply else {
            throw CaptureError(.internalFault, "the agent did not say what was picked")
        }
        try await password.check(assets, to: question, from: agent)
        return assets
    }

    private static func describe(_ question: PickQuestion, isInline: Bool) -> BusValue {
        var facts = PickFacts()
        facts.question = Question(question.client, question.name, until: question.deadline, isInline: isInline)
        facts.purpose = question.purpose.rawValue
        facts.subject = question.subject
        facts.kinds = question.kinds.sorted()
        facts.limit = UInt32(clamping: question.limit)
        if let taking = question.taking {
            facts.services = taking.services.map(\.rawValue).sorted()
            facts.duration = UInt32(clamping: taking.longest)
        }
        return facts.busValue
    }

    /// What an agent has a person pick by a question that stands.
    ///
    /// - Throws: `.notPermitted` as for an answer, and for a question of another sort.
    func picking(_ cookie: String, from connection: String) throws(CaptureError) -> PickQuestion {
        guard let picking = try standing(cookie, from: connection).picking else { throw AgentRegistry.unknownQuestion }
        // It was put to the shipped command line alone, whose file may have been replaced since.
        guard let agent = agents[connection], commandLine.isRun(by: agent.identity) else {
            throw CaptureError(.notPermitted, "only capturectl may show the media library or have something taken")
        }
        return picking
    }

    /// What an agent has a person take by a question that stands.
    ///
    /// - Throws: `.notPermitted` as for what is picked.
    func taking(_ cookie: String, from connection: String) throws(CaptureError) -> Taking {
        guard let taking = try picking(cookie, from: connection).taking else { throw AgentRegistry.unknownQuestion }
        return taking
    }

    /// Takes what was picked.
    ///
    /// - Throws: `.notPermitted` as for an answer.
    func answer(_ cookie: String, from connection: String, picked: PickedAssets) throws(CaptureError) {
        _ = try picking(cookie, from: connection)
        settle(cookie, .success(.picked(picked)))
    }
}
