import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Synchronization

/// The programs behind the bus's connections.
///
/// A connection is identified at its first call and again at each one after: whoever changes in between (forked, ran
/// another program, left the socket to somebody else) is refused from then on. Whoever did so before its first call is
/// found by the sockets that it no longer has, or not alone.
actor CallerDirectory {
    private let bus: BusConnection
    private let identification: Identification
    private let refusals: RefusalJournal
    private let checksHolding: @Sendable (ClientIdentity) -> Bool
    private let gone: @Sendable (String) async -> Void
    private let present: @Sendable ([ClientIdentity], UInt64) async -> Void
    private var revision: UInt64 = 0
    private var known: [String: ClientIdentity] = [:]
    /// Those that capture through a bridge's connection.
    private var bridged: [ClientIdentity] = []
    /// Whose refusal the journal was told: once for each, however often it calls.
    private var refused: Set<String> = []
    private var watches: [String: BusSubscription] = [:]
    /// Those that were identified, for `unchanged`.
    private nonisolated let pins = Mutex<[String: PinnedCaller]>([:])

    /// - Parameters:
    ///   - root: Where programs' files are looked for.
    ///   - refusals: What limits how often the same is told.
    ///   - checksHolding: Of whom it counts who has the connection.
    ///   - present: Told who is connected, with a number that grows, whenever that changes.
    ///   - gone: Told when a connection that called once has left the bus.
    init(
        bus: BusConnection,
        root: SystemRoot,
        refusals: RefusalJournal = RefusalJournal(),
        checksHolding: @escaping @Sendable (ClientIdentity) -> Bool = CallerDirectory.isClaim,
        present: @escaping @Sendable ([ClientIdentity], UInt64) async -> Void = { _, _ in },
        gone: @escaping @Sendable (String) async -> Void
    ) {
        self.bus = bus
        identification = Identification(bus: bus, root: root)
        self.refusals = refusals
        self.checksHolding = checksHolding
        self.gone = gone
        self.present = present
    }

    /// Whether other programs of a caller's account could pass for it. Root could be anybody anyway.
    static func isClaim(_ client: ClientIdentity) -> Bool { client.tier == .claimed && client.user != 0 }

    /// Identifies a caller.
    ///
    /// - Throws: `.notPermitted` when it cannot be identified or is not who it was.
    func client(_ connection: String) async throws(CaptureError) -> SessionClient {
        let now: ClientIdentity
        do throws(CaptureError) {
            let peer = try await identification.bus.credentials(of: connection)
            now = try ClientIdentity.identify(try await identification.facts(from: peer))
            if let before = known[connection] {
                guard before.isUnchanged(in: now) else { throw CallerDirectory.changed(from: before, to: now) }
            } else {
                // What it became before its first call, no later look would tell.
                try await checkHolding(connection, by: now)
                known[connection] = now
                try await watch(connection)
                await tellPresent()
            }
            // Of who has left meanwhile nothing is kept.
            if known[connection] == now {
                let pin = try await WorkerThread.run("who-calls") { PeerPin(peer) }
                if known[connection] == now, let pin {
                    pins.withLock { $0[connection] = PinnedCaller(now, pin) }
                }
            }
        } catch {
            pins.withLock { $0[connection] = nil }
            await note(error, of: connection)
            throw error
        }
        return sessionClient(now, connection)
    }

    /// Who a caller is, for calls that only look: as `unchanged` says, else as `client`.
    nonisolated func reader(_ connection: String) async throws(CaptureError) -> SessionClient {
        if let identity = unchanged(connection) { return sessionClient(identity, connection) }
        return try await client(connection)
    }

    private nonisolated func sessionClient(_ identity: ClientIdentity, _ connection: String) -> SessionClient {
        SessionClient(
            identity: identity,
            connection: connection,
            identifyAtStart: { [weak self] () throws(CaptureError) in
                guard let self else { throw CallerDirectory.stopping }
                return try await self.identifyAtStart(connection)
            },
            identifyAgain: { [weak self] () throws(CaptureError) in
                guard let self else { throw CallerDirectory.stopping }
                return try await self.identify(connection)
            }
        )
    }

    /// Who a connection was found to be; `nil` for one that was never identified, or has left.
    func identity(of connection: String) -> ClientIdentity? { known[connection] }

    /// Who a caller is that was identified before, as far as a look at its process tells that nothing has changed; `nil`
    /// where it does not, and `client` decides. Takes microseconds, and does for nothing that gives access.
    nonisolated func unchanged(_ connection: String) -> ClientIdentity? {
        guard let caller = pins.withLock({ $0[connection] }), caller.isUnchanged else { return nil }
        return caller.identity
    }

    private func identify(_ connection: String) async throws(CaptureError) -> ClientIdentity {
        let peer = try await identification.bus.credentials(of: connection)
        return try ClientIdentity.identify(try await identification.facts(from: peer))
    }

    private func identifyAtStart(_ connection: String) async throws(CaptureError) -> ClientIdentity {
        let now = try await identify(connection)
        try await checkHolding(connection, by: now)
        return now
    }

    /// Makes sure that a claimed program has its connections alone.
    private func checkHolding(_ connection: String, by client: ClientIdentity) async throws(CaptureError) {
        guard checksHolding(client) else { return }
        try await identification.checkHolding(of: connection, by: client)
    }

    private static let stopping = CaptureError(.unreachable, "captured is shutting down")

    private static func changed(from before: ClientIdentity, to now: ClientIdentity) -> CaptureError {
        var touched = before
        touched.executable?.changed = now.executable?.changed
        if touched == now, let file = now.executable {
            return CaptureError(
                .notPermitted,
                "the file of the program behind this connection, \(file.path), was changed since its first call; start it "
                    + "again"
            )
        }
        return CaptureError(
            .notPermitted,
            "the program behind this connection has changed: it was \(before.program) (\(before.detail)), "
                + "and is now \(now.program) (\(now.detail))"
        )
    }

    private func note(_ error: CaptureError, of connection: String) async {
        guard error.code == .notPermitted, refused.insert(connection).inserted else { return }
        // Who has left by now is not known any more, and all of those count as one.
        let user = try? await bus.user(of: connection)
        if let ending = refusals.admit(CallerDirectory.kind(of: error), of: user) {
            SessionJournal.record(refused: connection, user: user, error, ending)
        }
        // What is not watched has left already, and is forgotten at once.
        guard watches[connection] == nil else { return }
        do throws(CaptureError) { try await watch(connection) } catch { refused.remove(connection) }
    }

    /// What counts as the same for the journal, of one user: what it says but for numbers and names.
    static func kind(of error: CaptureError) -> String {
        let words = error.message.prefix { $0 != "/" }.filter { !$0.isNumber }
        return "identity \(words.prefix(80))"
    }

    private func watch(_ connection: String) async throws(CaptureError) {
        let watch = try await bus.whenNameVanishes(connection) { [weak self] in
            Task { await self?.vanished(connection) }
        }
        // It may have gone while the watch was being set up.
        if known[connection] != nil || refused.contains(connection) { watches[connection] = watch }
    }

    private func vanished(_ connection: String) async {
        known[connection] = nil
        pins.withLock { $0[connection] = nil }
        refused.remove(connection)
        watches[connection] = nil
        await gone(connection)
        await tellPresent()
    }

    /// Takes in which programs are there that have no connection of their own.
    func setBridged(_ identities: [ClientIdentity]) async {
        bridged = identities
        await tellPresent()
    }

    private func tellPresent() async {
        revision += 1
        await present(Array(known.values) + bridged, revision)
    }
}
