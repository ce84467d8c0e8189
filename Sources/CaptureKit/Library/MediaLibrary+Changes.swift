import CaptureBus
public import CaptureCore
import CaptureMessages

extension MediaLibrary {
    /// Where the library stands now.
    public func currentToken() async throws(CaptureError) -> LibraryChangeToken {
        guard let token = try await call("GetToken").first?.text else { throw CaptureDaemon.malformed("GetToken") }
        return LibraryChangeToken(rawValue: token)
    }

    /// The differences since a moment, or the first piece of them: `isComplete` tells.
    ///
    /// - Parameters:
    ///   - token: Where the difference begins.
    ///   - limit: How many differences at most, 1 to 1000.
    /// - Throws: `staleToken` if the token is too old, or the program may now see other things. Fetch everything again.
    public func changes(
        since token: LibraryChangeToken,
        limit: Int = 1000
    ) async throws(CaptureError) -> LibraryChanges {
        let answer = try await call(
            "GetChanges",
            [.string(token.rawValue), .uint32(UInt32(clamping: limit))]
        )
        guard answer.count == 3, let facts = answer[0].properties, let next = answer[1].text,
            let isComplete = answer[2].boolean
        else { throw CaptureDaemon.malformed("GetChanges") }
        // What is neither the end nor further would be asked for again and again.
        guard isComplete || next != token.rawValue else { throw CaptureDaemon.malformed("GetChanges") }
        var changes = try CaptureDaemon.understood(LibraryChanges(facts), "GetChanges")
        changes.token = LibraryChangeToken(rawValue: next)
        changes.isComplete = isComplete
        return changes
    }

    /// Sends a notice each time that something changes in the part of the library that the program may see, until the
    /// listening task ends. Several changes may share a notice. `changes(since:limit:)` says what changed. It throws
    /// `staleToken` if the person changed what the program may see.
    ///
    /// A program that may see nothing gets a notice when the person changes that in settings, but not when a policy
    /// changes or a yes ends. The stream continues when the daemon restarts, and then sends a notice at once. It ends
    /// if the bus is lost or the connection closed, or if this program's consent ended with the old daemon.
    ///
    /// - Throws: `busy` if 16 connections of the program or 64 of the user already get notices.
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
