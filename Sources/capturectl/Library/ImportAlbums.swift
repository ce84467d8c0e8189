import CaptureKit

/// The albums of what is imported. They are filled when every file is there, so that each has its own order.
struct ImportAlbums {
    /// An album with what is to come into it.
    private struct Album {
        var exported: Sidecar.Album
        var members: [(id: MediaAsset.ID, position: Int)] = []
    }

    private let library: MediaLibrary
    /// Those of the library that stand for none of the exported ones yet.
    private var free: [MediaAlbum]
    /// In the order in which they were told of.
    private var albums: [Album] = []
    /// Where each is in `albums`, by the id that it had where it was exported.
    private var indices: [String: Int] = [:]

    /// Looks up the albums that are there.
    ///
    /// - Parameter listed: Those that are to be there in any case, in their order.
    init(in library: MediaLibrary, listed: [Sidecar.Album]) async throws(CaptureError) {
        self.library = library
        free = try await library.albums()
        for album in listed { _ = index(of: album) }
    }

    /// Whether some assets wait for their albums.
    var isWaiting: Bool { albums.contains { !$0.members.isEmpty } }

    /// Has an asset in an album once that is filled.
    mutating func put(_ id: MediaAsset.ID, in album: Sidecar.Album) {
        // Exports of before told no positions: these are put in the order in which they come, behind the others.
        albums[index(of: album)].members.append((id, album.position ?? .max))
    }

    private mutating func index(of album: Sidecar.Album) -> Int {
        if let index = indices[album.id] { return index }
        indices[album.id] = albums.count
        albums.append(Album(exported: album))
        return albums.count - 1
    }

    /// Makes and fills the albums; those that cannot be are told in the summary.
    ///
    /// - Throws: What keeps every album from being filled, such as a refusal.
    consuming func fill(_ summary: inout ImportSummary) async throws(CaptureError) {
        for album in albums {
            do throws(CaptureError) {
                let id = try await here(album.exported)
                // Sorting keeps those of one position in the order in which they came.
                let ids = album.members.sorted { $0.position < $1.position }.map(\.id)
                try await fill(id, with: ids)
            } catch {
                // No room for one more album, or one of others', says nothing about the next.
                guard !MediaSourceFile.endsAll(error) || [.overQuota, .notPermitted].contains(error.code) else {
                    throw error
                }
                summary.fail(album: album.exported.name, error.message)
            }
        }
    }

    /// The album that stands for an exported one: one of its name that stands for no other, or a new one.
    private mutating func here(_ album: Sidecar.Album) async throws(CaptureError) -> MediaAlbum.ID {
        guard let index = free.firstIndex(where: { $0.name == album.name }) else {
            return try await library.createAlbum(album.name)
        }
        return free.remove(at: index).id
    }

    private func fill(_ album: MediaAlbum.ID, with ids: [MediaAsset.ID]) async throws(CaptureError) {
        var lost: [CaptureError] = []
        for start in stride(from: 0, to: ids.count, by: AssetNumber.most) {
            let piece = Array(ids[start..<min(start + AssetNumber.most, ids.count)])
            do throws(CaptureError) {
                try await library.add(piece, toAlbum: album)
            } catch {
                guard error.code == .noSuchAsset else { throw error }
                // One that was just deleted does not keep the others out.
                for id in piece {
                    do throws(CaptureError) {
                        try await library.add([id], toAlbum: album)
                    } catch {
                        guard error.code == .noSuchAsset else { throw error }
                        lost.append(error)
                    }
                }
            }
        }
        guard let first = lost.first else { return }
        throw CaptureError(first.code, "\(lost.count) of \(ids.count) assets are not in it: \(first.message)")
    }
}
