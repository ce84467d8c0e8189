import Authorization
import CaptureCore
import CaptureEngine
import MediaLibrary

/// What callers may do in their user's library.
struct LibraryAccess: Sendable {
    let gate: AuthorizationGate
    let questions: AccessQuestions
    let grants: LibraryGrants

    /// What a caller sees of the library, and on what.
    struct View: Sendable {
        var scope: LibraryScope
        var status: AuthorizationStatus
        /// What it rests on; `nil` for who sees nothing.
        var grant: Grant?

        /// Makes sure that the consent still holds.
        ///
        /// - Throws: `.revoked`.
        func confirm() throws(CaptureError) {
            if grant?.isLive != false { return }
            throw CaptureError(.revoked, "the consent to use the media library was withdrawn meanwhile")
        }
    }

    /// What a program sees, and why; `nil` where the person was never asked. Asks nobody.
    func standing(
        of client: ClientIdentity
    ) async throws(CaptureError) -> (scope: LibraryScope?, status: AuthorizationStatus) {
        let status = try await gate.libraryAccess(for: client).readWrite
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
    /// - Throws: `.undecided` where the person was never asked, and is asked from now on; `.missingUsageDescription` where
    ///   the program does not say why.
    func view(of client: SessionClient) async throws(CaptureError) -> View {
        let (scope, status) = try await standing(of: client.identity)
        guard let scope else {
            try await gate.checkLibraryReason(client.identity)
            try await questions.begin([.libraryReadWrite], for: client, joins: true)
            throw CaptureError(
                .undecided,
                "the person is being asked whether \(client.identity.name) may read the media library; request access to "
                    + "\(Service.libraryReadWrite.rawValue) to hear the answer, then call again"
            )
        }
        guard scope != .nothing else { return View(scope: scope, status: status) }
        let grant = try await grants.grant(.readWrite, client, isLimited: status == .limited)
        return View(
            scope: grant.isLimited ? .limited(program: client.identity.program) : .all,
            status: grant.isLimited ? .limited : .authorized,
            grant: grant
        )
    }

    /// What the caller may change.
    ///
    /// - Parameter everything: Whether it takes the consent to everything, not to chosen assets alone.
    /// - Throws: `.undecided` as above; `.denied` and `.restricted` where it may not.
    func changes(of client: SessionClient, everything: Bool = false) async throws(CaptureError) -> View {
        let view = try await view(of: client)
        let program = client.identity.program
        switch view.scope {
        case .all: return view
        case .limited where !everything: return view
        case .limited:
            throw CaptureError(
                .denied,
                "\(client.identity.name) (\(program)) may only use chosen assets, but this needs the whole media library; "
                    + "to allow that: capturectl auth set '\(program)' library all"
            )
        case .nothing where view.status == .restricted:
            // Refuses as it does everywhere, naming the rule by file and line.
            _ = try await grants.grant(.readWrite, client)
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
}
