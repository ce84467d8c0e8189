import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import MediaLibrary

/// Who is told that a library changed: the connections that asked where it stands, each of what it may see alone.
actor LibraryWatchers {
    /// How many connections of a user may be told.
    static let mostOfUser = 64

    private let bus: BusConnection
    private let access: LibraryAccess
    private let libraries: LibraryCatalog
    private var watchers: [String: SessionClient] = [:]
    /// Up to where everybody who watches a user's library was told.
    private var told: [UInt32: LibraryMoment] = [:]
    /// Users whose library changed while their watchers were being told.
    private var behind: Set<UInt32> = []
    private var telling: Set<UInt32> = []

    init(bus: BusConnection, access: LibraryAccess, libraries: LibraryCatalog) {
        self.bus = bus
        self.access = access
        self.libraries = libraries
    }

    /// Tells a connection from now on, until it leaves the bus. Idempotent.
    ///
    /// - Throws: `.busy` when as many of its user's are told as may be.
    func watch(_ client: SessionClient) async throws(CaptureError) {
        let user = client.identity.user
        if told[user] == nil {
            let moment = try await libraries.use(user) { library throws(CaptureError) in try library.moment() }
            if told[user] == nil { told[user] = moment }
        }
        // No suspension from here on: two that come at one time are counted one after the other.
        let others = watchers.count { $0.value.identity.user == user && $0.key != client.connection }
        guard others < Self.mostOfUser else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfUser) connections of a user may be told of changes at a time; close one of them"
            )
        }
        watchers[client.connection] = client
    }

    /// Tells a connection no more.
    func clientGone(_ connection: String) {
        guard let user = watchers.removeValue(forKey: connection)?.identity.user else { return }
        if !watchers.values.contains(where: { $0.identity.user == user }) { told[user] = nil }
    }

    /// A user's library changed: tells those whom it concerns.
    ///
    /// Who may see chosen assets alone is told of nothing else, not even that there was something.
    func changed(_ user: UInt32) async {
        behind.insert(user)
        guard telling.insert(user).inserted else { return }
        while behind.remove(user) != nil { await tell(user) }
        telling.remove(user)
    }

    private func tell(_ user: UInt32) async {
        guard let before = told[user] else { return }
        do throws(CaptureError) {
            let (concern, now) = try await libraries.use(user) { library throws(CaptureError) in
                var moment = before
                return (try library.concern(since: &moment), moment)
            }
            if told[user] == before { told[user] = now }
            for (connection, client) in watchers where client.identity.user == user {
                guard let scope = try await access.standing(of: client.identity).scope, concern.includes(scope),
                    watchers[connection] != nil
                else { continue }
                try bus.emit(CaptureNames.root, CaptureNames.library, "Changed", signature: "", [], to: connection)
            }
        } catch {
            Journal.send(
                "not everybody was told of a change of user \(user)'s media library: \(error)",
                priority: .warning
            )
        }
    }
}
