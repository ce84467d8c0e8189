import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import MediaLibrary

/// The Library interface: the media library of the caller's user, as far as the caller may.
struct LibraryObject: Sendable {
    let callers: CallerDirectory
    let access: LibraryAccess
    let libraries: LibraryCatalog
    let requests: LongRequests
    let watchers: LibraryWatchers
    let importers: Importers
    let doors: PassingDoors
    /// Where the person decides about what was kept.
    let commandLine: ShippedProgram
    let turns: LibraryTurns
    let pictures: LibraryPictures
    let picking: LibraryPicking
    /// What reads much of a library.
    let checks = BusyLimit(mostOfUser: 1, "the media library is already being checked; wait for that")

    var implementation: BusImplementation {
        BusImplementation(
            CaptureInterfaces.library,
            methods: [
                "Fetch": fetch, "Count": count, "GetAsset": getAsset, "GetAssets": getAssets, "Open": open,
                "Thumbnail": thumbnail, "Import": importFile, "Edit": edit, "Delete": delete, "Restore": restore,
                "EmptyBin": emptyBin, "ListAlbums": listAlbums, "CreateAlbum": createAlbum,
                "FindAssets": findAssets, "GetToken": getToken, "GetChanges": getChanges, "Check": check,
                "Repair": repair, "ListKept": listKept, "SaveKept": saveKept, "DiscardKept": discardKept,
            ].merging(picking.methods) { $1 },
            actions: [
                "Cancel": cancel, "Revert": revert, "Change": change, "RenameAlbum": renameAlbum,
                "DeleteAlbum": deleteAlbum, "AddToAlbum": addToAlbum, "RemoveFromAlbum": removeFromAlbum,
                "MoveInAlbum": moveInAlbum,
            ]
        )
    }

    /// Has a caller read in what it sees of its user's library.
    func reading<Value: Sendable>(
        _ client: SessionClient,
        _ work: @escaping @Sendable (LibraryStore, LibraryScope) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> (value: Value, status: AuthorizationStatus) {
        let view = try await access.view(of: client)
        let value = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try work(library, view.scope)
        }
        // Nothing is handed out on a consent that went meanwhile.
        try view.confirm()
        await picking.choosing.offer(client, view.status)
        return (value, view.status)
    }

    /// Has a caller change what it may of its user's library, and tells those whom it concerns.
    @discardableResult
    func changing<Value: Sendable>(
        _ call: BusCall,
        everything: Bool = false,
        _ work: @escaping @Sendable (LibraryStore, LibraryScope, _ program: String) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let client = try await callers.client(call.sender)
        let view = try await access.changes(of: client, everything: everything)
        let program = client.identity.program
        let value = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.whilePermitted(view.confirm) { () throws(CaptureError) in
                try work(library, view.scope, program)
            }
        }
        await watchers.changed(client.identity.user)
        await picking.choosing.offer(client, view.status)
        return value
    }

    func cancel(_ call: BusCall) async throws(CaptureError) {
        try await requests.cancel(UInt32(clamping: try call.arguments.number(0)), of: call.sender)
    }
}
