import CaptureBus
public import CaptureCore

/// Where the library stood at a moment, as the program sees it: to be kept, over restarts too, and given to
/// `MediaLibrary.changes(since:limit:)`.
public struct LibraryChangeToken: RawRepresentable, Hashable, Sendable, Codable {
    /// The token as text, which means something to the daemon alone.
    public var rawValue: String

    /// A token that was kept as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// What is different between two moments, of what the program may see.
public struct LibraryChanges: Hashable, Sendable {
    /// Assets that came, out of the bin as well.
    public var inserted: [MediaAsset] = []
    /// Assets of which something is different.
    public var changed: [MediaAsset] = []
    /// Assets that were put into an album, taken out, or moved in it; not those of an album that went.
    public var moved: [MediaAsset] = []
    /// The ids of assets that went, into the bin as well.
    public var removed: [MediaAsset.ID] = []
    /// Albums that came.
    public var insertedAlbums: [MediaAlbum] = []
    /// Albums of which something is different, what is in them included.
    public var changedAlbums: [MediaAlbum] = []
    /// The ids of albums that went.
    public var removedAlbums: [MediaAlbum.ID] = []
    /// Where the next difference begins.
    public var token: LibraryChangeToken
    /// Whether nothing is left between `token` and now.
    public var isComplete: Bool

    /// Whether there is no difference.
    public var isEmpty: Bool {
        inserted.isEmpty && changed.isEmpty && moved.isEmpty && removed.isEmpty && insertedAlbums.isEmpty
            && changedAlbums.isEmpty && removedAlbums.isEmpty
    }
}

extension MediaLibrary {
    /// Where the library stands now.
    public func currentToken() async throws(CaptureError) -> LibraryChangeToken {
        guard let token = try await call("GetToken").first?.text else { throw CaptureDaemon.malformed("GetToken") }
        return LibraryChangeToken(rawValue: token)
    }

    /// What is different from what it was, or the first piece of it: `isComplete` tells.
    ///
    /// - Parameters:
    ///   - token: Where the difference begins.
    ///   - limit: How many differences at most, 1 to 1000.
    /// - Throws: `staleToken` when that is too long ago, or the program may see other things than then: fetch anew.
    public func changes(
        since token: LibraryChangeToken,
        limit: Int = 1000
    ) async throws(CaptureError) -> LibraryChanges {
        let answer = try await call(
            "GetChanges",
            "su",
            [.string(token.rawValue), .uint32(UInt32(clamping: limit))]
        )
        guard answer.count == 3, let facts = answer[0].properties, let next = answer[1].text,
            let isComplete = answer[2].boolean
        else { throw CaptureDaemon.malformed("GetChanges") }
        // What is neither the end nor further would be asked for again and again.
        guard isComplete || next != token.rawValue else { throw CaptureDaemon.malformed("GetChanges") }
        return LibraryChanges(
            inserted: try MediaAsset.list(facts["inserted"]),
            changed: try MediaAsset.list(facts["changed"]),
            moved: try MediaAsset.list(facts["moved"]),
            removed: facts["removed"]?.texts ?? [],
            insertedAlbums: try MediaAlbum.list(facts["albums-inserted"]),
            changedAlbums: try MediaAlbum.list(facts["albums-changed"]),
            removedAlbums: facts["albums-removed"]?.texts ?? [],
            token: LibraryChangeToken(rawValue: next),
            isComplete: isComplete
        )
    }

    /// Tells each time that something changed of what the program may see, until the task that listens ends; several
    /// changes may come to one notice. What changed is told by `changes(since:limit:)`, which says `staleToken` when it is
    /// what the person allows that changed.
    ///
    /// A program that may see nothing is told when the person changes that in settings; not of a rule of policy, nor of a yes
    /// that runs out. It outlives the daemon: of one that comes anew there is a notice at once. It ends when the bus is lost
    /// or the connection closed, or when a new daemon does not tell this program, since its consent ended with the old one.
    ///
    /// - Throws: `busy` when 16 connections of the program or 64 of the user are told already.
    public func changeNotices() async throws(CaptureError) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: CaptureNames.library,
            member: "Changed"
        )
        let heard = try await daemon.connection.subscribe(match) { _ in continuation.yield() }
        let name = try await daemon.connection.watchName(CaptureNames.service) { [self] owner in
            guard owner != nil else { return }
            Task {
                do throws(CaptureError) {
                    // The person is asked when the program looks, and not for this.
                    guard try await self.authorizationStatus(for: .readWrite) != .notDetermined else {
                        return continuation.finish()
                    }
                    _ = try await self.currentToken()
                    continuation.yield()
                } catch {
                    // One that is gone again is followed by another, of which it is told.
                    if error.code != .unreachable { continuation.finish() }
                }
            }
        }
        // Who asks for a token is told.
        _ = try await currentToken()
        let closed = try await daemon.connection.watchClose { _ in continuation.finish() }
        continuation.onTermination = { _ in withExtendedLifetime((heard, name, closed)) {} }
        return stream
    }
}
