import Authorization
import CaptureCore
import CaptureEngine
import MediaLibrary

/// What callers may do in their user's library.
struct LibraryAccess: Sendable {
    let gate: AuthorizationGate
    let requests: AccessRequests

    /// What a program sees, and why; `nil` where the person was never asked. Asks nobody.
    func standing(
        of client: ClientIdentity
    ) async throws(CaptureError) -> (scope: LibraryScope?, status: AuthorizationStatus) {
        let status = try await gate.libraryAccess(for: client).status(.readWrite)
        let scope: LibraryScope? =
            switch status {
            case .authorized: .all
            case .limited: .limited(program: client.program)
            case .denied, .restricted: .nothing
            case .notDetermined: nil
            }
        return (scope, status)
    }

    /// What the caller sees.
    ///
    /// - Throws: `.undecided` where the person was never asked, and is asked from now on.
    func scope(of client: SessionClient) async throws(CaptureError) -> (
        scope: LibraryScope, status: AuthorizationStatus
    ) {
        let (scope, status) = try await standing(of: client.identity)
        if let scope { return (scope, status) }
        _ = try await requests.begin([.libraryReadWrite], for: client)
        throw CaptureError(
            .undecided,
            "the person is being asked whether \(client.identity.name) may read the media library; request access to "
                + "\(Service.libraryReadWrite.rawValue) to be told what comes of it, then call again"
        )
    }

    /// What the caller may change.
    ///
    /// - Parameter everything: Whether it takes the consent to everything, not to chosen assets alone.
    /// - Throws: `.undecided` as above; `.denied` and `.restricted` where it may not.
    func changes(of client: SessionClient, everything: Bool = false) async throws(CaptureError) -> LibraryScope {
        let (scope, status) = try await scope(of: client)
        let program = client.identity.program
        switch scope {
        case .all: return scope
        case .limited where !everything: return scope
        case .limited:
            throw CaptureError(
                .denied,
                "\(client.identity.name) (\(program)) may use chosen assets alone, and this takes the whole media library; "
                    + "to allow that: capturectl auth set '\(program)' library all"
            )
        case .nothing where status == .restricted:
            throw CaptureError(
                .restricted,
                "policy keeps \(client.identity.name) (\(program)) from changing the media library; see: "
                    + "capturectl auth explain '\(program)'"
            )
        case .nothing:
            throw CaptureError(
                .denied,
                "\(client.identity.name) (\(program)) was denied the media library; to be asked again: "
                    + "capturectl auth reset '\(program)'"
            )
        }
    }

    /// Makes sure that what was found before a call still holds after it: nothing is handed out on a consent that went
    /// meanwhile.
    ///
    /// - Throws: `.revoked`.
    func confirm(_ scope: LibraryScope, of client: SessionClient) async throws(CaptureError) {
        let status = try await gate.libraryAccess(for: client.identity).status(.readWrite)
        let holds =
            switch scope {
            case .all: status == .authorized
            case .limited: status == .authorized || status == .limited
            case .nothing: true
            }
        guard holds else {
            throw CaptureError(
                .revoked,
                "the consent of \(client.identity.name) to use the media library was withdrawn meanwhile"
            )
        }
    }
}
