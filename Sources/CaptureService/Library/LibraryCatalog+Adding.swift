import CaptureBus
import CaptureCore
import CaptureSystem
import MediaLibrary

/// What comes after an asset was added.
extension LibraryCatalog {
    /// Keeps the pictures that came with an examination. Without them they are made when they are first wanted.
    func keep(
        _ pictures: [[UInt8]],
        of asset: String,
        madeFrom content: Descriptor,
        for user: UInt32
    ) async {
        do throws(CaptureError) {
            try await use(user) { library throws(CaptureError) in
                _ = try library.contents.storeThumbnails(
                    LibraryObject.sized(pictures),
                    of: asset,
                    madeFrom: content.descriptor
                )
            }
        } catch {
            Journal.send("the pictures of asset \(asset) were not kept: \(error)", priority: .warning)
        }
    }

    /// Puts an asset into the album of a name, which is made where there is none.
    ///
    /// - Parameter permitted: Throws once the consent is gone.
    func put(
        _ asset: String,
        intoAlbumNamed name: String,
        by program: String,
        of user: UInt32,
        _ permitted: @escaping @Sendable () throws(CaptureError) -> Void = { () throws(CaptureError) in }
    ) async throws(CaptureError) {
        try await use(user) { library throws(CaptureError) in
            try library.whilePermitted(permitted) { () throws(CaptureError) in
                var album = try library.albums.album(named: name, scope: .all)?.id
                if album == nil { album = try library.albums.create(name, program: program, scope: .all).id }
                if let album { try library.members.add([asset], toAlbum: album, scope: .all) }
            }
        }
    }
}
