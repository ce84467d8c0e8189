import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import MediaLibrary

/// Who is told that a library changed: the connections that asked where it stands, each of what it may see alone.
actor LibraryWatchers {
    /// How many connections of a user may be told, and how many of one program's.
    static let mostOfUser = 64
    static let mostOfProgram = 16

    private let bus: BusConnection
    private let access: LibraryAccess
    private let libraries: LibraryCatalog
    private var watchers: [String: SessionClient] = [:]
    /// Up to where everybody who watches a user's library was told.
    private var told: [UInt32: LibraryMoment] = [:]
    /// Users whose library changed since a look at it began.
    private var behind: Set<UInt32> = []
    /// Who are being told now, by their user.
    private var telling: [UInt32: Task<Void, Never>] = [:]

    init(bus: BusConnection, access: LibraryAccess, libraries: LibraryCatalog) {
        self.bus = bus
        self.access = access
        self.libraries = libraries
    }

    /// Tells a connection from now on, until it leaves the bus. Idempotent.
    ///
    /// - Throws: `.busy` when as many of its user's or its program's are told as may be; `.notPermitted` for a connection
    ///   that has left.
    func watch(_ client: SessionClient) async throws(CaptureError) {
        let user = client.identity.user
        if told[user] == nil {
            let moment = try await libraries.use(user) { library throws(CaptureError) in try library.history.moment() }
            if told[user] == nil { told[user] = moment }
        }
        // No suspension until it is in: two that come at one time are counted one after the other.
        let others = watchers.values.filter { $0.identity.user == user && $0.connection != client.connection }
        guard others.count < Self.mostOfUser,
            others.count(where: { $0.identity.program == client.identity.program }) < Self.mostOfProgram
        else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfProgram) connections of a program and \(Self.mostOfUser) of a user may watch for changes at a "
                    + "time; close one of them"
            )
        }
        watchers[client.connection] = client
        do throws(CaptureError) {
            // Of a connection that leaves from here on it is heard.
            _ = try await client.identifyAgain()
        } catch {
            clientGone(client.connection)
            throw error
        }
    }

    /// Tells a connection no more.
    func clientGone(_ connection: String) {
        guard let user = watchers.removeValue(forKey: connection)?.identity.user else { return }
        if !watchers.values.contains(where: { $0.identity.user == user }) { told[user] = nil }
    }

    /// A user's library changed: has those told whom it concerns, whatever becomes of the caller.
    ///
    /// Who may see chosen assets alone is told of nothing else, not even that there was something.
    func changed(_ user: UInt32) {
        behind.insert(user)
        guard telling[user] == nil else { return }
        telling[user] = Task {
            while self.behind.remove(user) != nil { await self.tell(user) }
            self.telling[user] = nil
        }
    }

    /// A program sees something else from now on, whatever is in its user's library: tells it.
    func sees(_ program: String, of user: UInt32) {
        for (connection, client) in watchers where client.identity.user == user && client.identity.program == program {
            tell(connection, client)
        }
    }

    /// Waits until everybody was told of what changed before.
    func settled(_ user: UInt32) async {
        await telling[user]?.value
    }

    private func tell(_ user: UInt32) async {
        guard let before = told[user] else { return }
        let concern: LibraryConcern
        do throws(CaptureError) {
            let now: LibraryMoment
            (concern, now) = try await libraries.use(user) { library throws(CaptureError) in
                var moment = before
                return (try library.history.concern(since: &moment), moment)
            }
            if told[user] == before { told[user] = now }
        } catch {
            Journal.send("cannot announce a change of user \(user)'s media library: \(error)", priority: .warning)
            return
        }
        for (connection, client) in watchers where client.identity.user == user {
            do throws(CaptureError) {
                guard let scope = try await access.standing(of: client.identity).scope, concern.includes(scope),
                    watchers[connection] != nil
                else { continue }
                tell(connection, client)
            } catch {
                untold(client, error)
            }
        }
    }

    private func tell(_ connection: String, _ client: SessionClient) {
        do throws(CaptureError) {
            try bus.tell(CaptureNames.root, CaptureNames.library, "Changed", [], to: connection)
        } catch {
            untold(client, error)
        }
    }

    private func untold(_ client: SessionClient, _ error: CaptureError) {
        Journal.send(
            "\(client.identity.program) was not told of a change of the media library: \(error)",
            priority: .warning
        )
    }
}
