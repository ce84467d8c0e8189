import CaptureCore

/// The grants that were given and hold.
extension AuthorizationGate {
    /// Whose answers: one program of one user.
    struct ProgramKey: Hashable {
        var user: UInt32
        var program: String
    }

    /// A grant that somebody has, and that holds.
    struct LiveGrant {
        var grant: Grant
        var client: ClientIdentity
        /// What it rests on; `nil` where nothing is stored.
        var row: StoredAnswer?
    }

    /// A grant that somebody may have.
    struct WeakGrant {
        weak var grant: Grant?
        /// Whom it was given to.
        var client: ClientIdentity
        /// Whether policy gave it, without an answer.
        var isPolicys: Bool
        /// What it rests on; `nil` where nothing is stored.
        var row: StoredAnswer?

        var live: LiveGrant? {
            guard let grant, grant.isLive else { return nil }
            return LiveGrant(grant: grant, client: client, row: row)
        }
    }

    /// Forgets those of a program that nobody has any more.
    func prune(_ key: ProgramKey) {
        grants[key]?.removeAll { $0.grant?.isLive != true }
        if grants[key]?.isEmpty == true { grants[key] = nil }
    }

    /// The grants that hold now by an answer about a service, with what they rest on.
    func liveGrants(user: UInt32, program: String, service: Service) -> [LiveGrant] {
        grants[ProgramKey(user: user, program: program), default: []].compactMap(\.live)
            .filter { $0.grant.source == service }
    }

    /// All of them.
    func allLiveGrants() -> [(key: ProgramKey, live: LiveGrant)] {
        grants.flatMap { key, weak in weak.compactMap(\.live).map { (key: key, live: $0) } }
    }

    /// Another answer has taken the place of the one that live grants rest on.
    func rebase(_ row: StoredAnswer) {
        let key = ProgramKey(user: row.user, program: row.program)
        for index in grants[key, default: []].indices where grants[key]?[index].grant?.source == row.service {
            grants[key]?[index].row = row
        }
    }

    /// Grants were given back: they allow nothing more, and nobody looks after them.
    func forget(_ given: [Grant]) {
        for key in Set(given.map { ProgramKey(user: $0.user, program: $0.program) }) {
            grants[key]?.removeAll { weak in given.contains { $0 === weak.grant } }
            prune(key)
        }
    }
}
