import CaptureBus
import CaptureCore
import CaptureEngine
import MediaLibrary

/// Who is told that a library changed: the connections that asked where it stands, each of what it may see alone.
actor LibraryWatchers {
    private struct Watcher {
        var client: SessionClient
        /// Where the library stood when it was told last, as it sees it.
        var token: String
        var scope: LibraryScope
    }

    /// How many connections of a user may be told.
    static let mostOfUser = 64

    private let bus: BusConnection
    private let access: LibraryAccess
    private let libraries: LibraryCatalog
    private var watchers: [String: Watcher] = [:]
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
        let others = watchers.count { $0.value.client.identity.user == user && $0.key != client.connection }
        guard others < Self.mostOfUser else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfUser) connections of a user may be told of changes at a time; close one of them"
            )
        }
        let scope = try await access.scope(of: client).scope
        let token = try await libraries.use(user) { library throws(CaptureError) in try library.token(scope) }
        watchers[client.connection] = Watcher(client: client, token: token, scope: scope)
    }

    /// Tells a connection no more.
    func clientGone(_ connection: String) {
        watchers[connection] = nil
    }

    /// A user's library changed: tells those who see a difference.
    ///
    /// Who may see chosen assets alone is told of nothing else, not even that there was something: whether there is a
    /// difference is looked up in what that reader sees.
    func changed(_ user: UInt32) async {
        behind.insert(user)
        guard telling.insert(user).inserted else { return }
        while behind.remove(user) != nil {
            for connection in watchers.filter({ $0.value.client.identity.user == user }).keys.sorted() {
                await tell(connection)
            }
        }
        telling.remove(user)
    }

    private func tell(_ connection: String) async {
        guard let watcher = watchers[connection] else { return }
        do throws(CaptureError) {
            let scope = try await access.standing(of: watcher.client.identity).scope ?? .nothing
            let before = watcher.scope == scope ? watcher.token : nil
            let token = try await libraries.use(watcher.client.identity.user) { library throws(CaptureError) -> String? in
                if let before {
                    let changes = try library.changes(since: before, scope, limit: 1)
                    if changes.isEmpty { return nil }
                }
                return try library.token(scope)
            }
            guard let token, watchers[connection] != nil else { return }
            watchers[connection]?.token = token
            watchers[connection]?.scope = scope
            try bus.emit(CaptureNames.root, CaptureNames.library, "Changed", signature: "", [], to: connection)
        } catch {
            // A token that is too old, or a library that cannot be read: it asks anew when it looks.
            Journal.send(
                "\(watcher.client.identity.program) was not told of a change of the media library: \(error)",
                priority: .warning
            )
        }
    }
}

extension LibraryChanges {
    /// Whether nothing is different.
    var isEmpty: Bool {
        inserted.isEmpty && changed.isEmpty && moved.isEmpty && removed.isEmpty && albums.inserted.isEmpty
            && albums.changed.isEmpty && albums.removed.isEmpty
    }
}
