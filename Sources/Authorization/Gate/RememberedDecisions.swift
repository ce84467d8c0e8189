public import CaptureCore
import Synchronization

/// What the gate decided a moment ago on answers that hold for always, for those who ask the same again.
///
/// An entry counts while the gate has written nothing, nothing of its own (policy, switches, presence, lifetimes) has
/// changed, and the store's file is the one that was read, to the nanosecond of its last change, which is looked at every
/// few milliseconds; and for a few seconds, after which the gate looks again. Nothing here gives a grant: a start takes the gate and a second identification. Thread-safe, and never waits
/// for the disk.
public final class RememberedDecisions: Sendable {
    private struct Entry {
        var statuses: [Service: AuthorizationStatus] = [:]
        /// What a request was granted, which a switch stands above.
        var granted: Set<Service> = []
        var stamp: FileStamp
        var writes: UInt64
        /// When the file was looked at, in milliseconds since the machine started.
        var looked: Int64
        /// In milliseconds since the machine started.
        var until: Int64
    }

    /// In milliseconds.
    private static let span: Int64 = 10_000
    /// In milliseconds.
    private static let lookEvery: Int64 = 5
    private static let mostEntries = 256

    private let entries = Mutex<[ClientIdentity: Entry]>([:])
    private let store: AuthorizationStore
    private let now: @Sendable () -> AnswerTime

    init(store: AuthorizationStore, now: @escaping @Sendable () -> AnswerTime) {
        self.store = store
        self.now = now
    }

    /// What stands between a program and a service; `nil` where the gate has to look.
    public func status(_ service: Service, for client: ClientIdentity) -> AuthorizationStatus? {
        standing(client)?.statuses[service]
    }

    /// Whether a request for services would be granted, all of them without a limit; `false` where the gate has to look. The journal was told when it
    /// did, seconds ago.
    public func grants(_ services: Set<Service>, for client: ClientIdentity) -> Bool {
        !services.isEmpty && standing(client)?.granted.isSuperset(of: services) == true
    }

    /// Keeps what the gate has just found.
    func keep(
        _ statuses: [Service: AuthorizationStatus],
        granted: Set<Service> = [],
        for client: ClientIdentity
    ) {
        let now = now()
        let writes = store.writes
        // A file that changed within the last moments might change again within the same tick of the clock.
        guard let stamp = store.stamp, stamp.isSettled(at: now.wall * 1_000_000) else { return }
        let decided = statuses.filter { $0.value != .notDetermined }
        entries.withLock { entries in
            if entries.count >= RememberedDecisions.mostEntries { entries = [:] }
            var entry = Entry(
                stamp: stamp,
                writes: writes,
                looked: now.sinceBoot,
                until: now.sinceBoot + RememberedDecisions.span
            )
            if let old = entries[client], old.stamp == stamp, old.writes == writes, old.until > now.sinceBoot {
                (entry.statuses, entry.granted, entry.until) = (old.statuses, old.granted, old.until)
            }
            entry.statuses.merge(decided) { $1 }
            entry.granted.formUnion(granted)
            entries[client] = entry
        }
    }

    /// Forgets everything.
    func forget() { entries.withLock { $0 = [:] } }

    private func standing(_ client: ClientIdentity) -> Entry? {
        guard let entry = entries.withLock({ $0[client] }), entry.writes == store.writes else { return nil }
        let now = now().sinceBoot
        guard now < entry.until else { return nil }
        if now - entry.looked >= RememberedDecisions.lookEvery {
            guard store.stamp == entry.stamp else { return nil }
            entries.withLock { $0[client]?.looked = now }
        }
        return entry
    }
}
