import Authorization
import CaptureCore
import CaptureEngine
import MediaLibrary

/// When a program that may read chosen assets alone has the person choose more: because it asks, because it was just limited,
/// or because it reads or saves for the first time in its run.
struct LibraryChoosing: Sendable {
    let access: LibraryAccess
    let libraries: LibraryCatalog
    let watchers: LibraryWatchers
    let offers: LibraryOffers

    /// Has the person choose more for a program.
    ///
    /// - Returns: The ids of what it did not see before.
    func extend(
        _ purpose: PickPurpose,
        _ client: SessionClient
    ) async throws(CaptureError) -> [String] {
        try await take(try await ask(purpose, client), client)
    }

    private func ask(
        _ purpose: PickPurpose,
        _ client: SessionClient
    ) async throws(CaptureError) -> PickedAssets {
        await offers.note(client.identity)
        if purpose != .offer { await offers.giveWay(to: client.connection) }
        return try await access.gate.pick(purpose, by: client.requester)
    }

    /// Lets a program read what was chosen for it.
    private func take(_ answer: PickedAssets, _ client: SessionClient) async throws(CaptureError) -> [String] {
        // The person may have changed the consent while the question stood.
        guard case .limited = try await access.standing(of: client.identity).scope else {
            throw CaptureError(
                .revoked,
                "what \(client.identity.name) may read of the media library was changed meanwhile; nothing was chosen"
            )
        }
        let (user, program) = (client.identity.user, client.identity.program)
        let new = try await libraries.use(user) { library throws(CaptureError) in
            try library.choices.choose(program, answer.picked)
        }
        if !new.isEmpty { await watchers.changed(user) }
        return new
    }

    /// The person has just answered that a program may read what they choose: they choose it at once.
    func begin(with client: SessionClient) async {
        await offers.choose(for: client.identity) { await extendQuietly(.extend, client) }
    }

    /// A program with that status reads or saves: by the first time in its run the person is offered to choose more, beside
    /// the call, unless the program's metadata says that this is not wanted.
    func offer(_ client: SessionClient, _ status: AuthorizationStatus) async {
        guard status == .limited else { return }
        await offers.begin(for: client) {
            guard await !access.gate.preventsLibraryAlert(client.identity) else { return }
            await extendQuietly(.offer, client)
        }
    }

    /// Has the person choose, which nobody waits for: what keeps it from coming to something is told to the journal.
    private func extendQuietly(_ purpose: PickPurpose, _ client: SessionClient) async {
        // What a question came to in the place of a choice, the gate has told.
        guard let answer = try? await ask(purpose, client) else { return }
        do throws(CaptureError) {
            _ = try await take(answer, client)
        } catch {
            LibraryJournal.nothingChosen(for: client.identity, error)
        }
    }
}
