import CaptureKit
import Glibc

/// Writes assets into a folder, with everything that is known of them. What is there is never written over.
struct LibraryExport {
    private let library: MediaLibrary
    private let root: String
    private let albums: [Sidecar.Album]
    /// The albums that each asset is in, in their order.
    private let membership: [MediaAsset.ID: [Sidecar.Album]]

    /// What came of an asset.
    private enum Outcome {
        case written
        case skipped
        /// Its files are there; what is known of it was another when they were written.
        case outdated(String)
    }

    /// Looks up the albums and makes the folder.
    init(of library: MediaLibrary, to folder: String) async throws(CaptureError) {
        self.library = library
        var root = folder
        while root.count > 1, root.hasSuffix("/") { root.removeLast() }
        try MediaFolder.make(root)
        self.root = root
        var membership: [MediaAsset.ID: [Sidecar.Album]] = [:]
        var albums: [Sidecar.Album] = []
        for album in try await library.albums() {
            albums.append(Sidecar.Album(id: album.id, name: album.name))
            var options = AssetFetchOptions()
            options.album = album.id
            options.order = .position
            options.isAscending = true
            options.pageSize = 1000
            var position = 0
            for try await page in library.pages(options) {
                for asset in page.assets {
                    membership[asset.id, default: []].append(.init(id: album.id, name: album.name, position: position))
                    position += 1
                }
            }
        }
        self.membership = membership
        self.albums = albums
    }

    /// Everything that is not in the bin, and the list of albums.
    func all() async throws(CaptureError) -> ExportSummary {
        try writeAlbums()
        var summary = ExportSummary()
        var options = AssetFetchOptions()
        // A page does not move under the next one while others add to the library.
        options.order = .added
        options.isAscending = true
        options.pageSize = 1000
        for try await page in library.pages(options) {
            for asset in page.assets { try await export(asset, &summary) }
        }
        return summary
    }

    /// The assets of the given ids.
    func assets(_ ids: [MediaAsset.ID]) async throws(CaptureError) -> ExportSummary {
        var summary = ExportSummary()
        for id in ids {
            do throws(CaptureError) {
                try await export(try await library.asset(id), &summary)
            } catch  where error.code == .noSuchAsset {
                summary.fail(id, error)
            }
        }
        return summary
    }

    private func export(_ asset: MediaAsset, _ summary: inout ExportSummary) async throws(CaptureError) {
        do throws(CaptureError) {
            var source = try await ExportSource(asset, in: library)
            let outcome: Outcome
            do throws(CaptureError) {
                outcome = try export(source)
            } catch {
                // Of an edit and its original one may be whole.
                guard error.code == .badData, let version = try source.damaged() else { throw error }
                source = try await ExportSource(asset, in: library, without: .init(version: version, fault: error))
                outcome = try export(source)
            }
            switch outcome {
            case .written: summary.written += 1
            case .skipped: summary.skipped += 1
            case .outdated(let path):
                summary.skipped += 1
                Output.message(
                    "\(Printable.text(path, limit: 1000)) has older facts; remove it to have it written again"
                )
            }
            if let loss = source.loss { summary.lose(loss, of: asset.name) }
        } catch {
            // One that is damaged or was just deleted does not keep the others from being saved; a full disk does.
            if MediaSourceFile.endsAll(error) || [ENOSPC, EDQUOT, EROFS].contains(error.errno) { throw error }
            summary.fail(asset.name, error)
        }
    }

    private func export(_ source: ExportSource) throws(CaptureError) -> Outcome {
        let asset = source.asset
        var hashes: ExportSource.Hashes?
        var attempt = 1
        while true {
            let place = ExportPlace(of: asset, in: root, attempt: attempt)
            let isFree = [place.file, place.sidecar, place.original].allSatisfy {
                MediaFolder.kind(of: place.path($0)) == nil
            }
            if !isFree {
                let known = if let hashes { hashes } else { try source.hashes() }
                hashes = known
                switch state(of: place, asset, known) {
                case .other:
                    attempt += 1
                    continue
                case .whole: return .skipped
                case .outdated: return .outdated(place.path(place.sidecar))
                case .begun: break
                }
            }
            try write(source, at: place)
            return .written
        }
    }

    private enum State {
        /// Somebody else's, or the asset's own from before it was edited.
        case other
        /// All of it, as it is now.
        case whole
        /// All of it, but with other facts.
        case outdated
        /// A part of it.
        case begun
    }

    /// What stands at a place that is not free. The facts are written last: with them, everything is there.
    private func state(
        of place: ExportPlace,
        _ asset: MediaAsset,
        _ hashes: ExportSource.Hashes
    ) -> State {
        let current = FileCopy.hash(of: place.path(place.file))
        let hasOriginal = MediaFolder.kind(of: place.path(place.original)) != nil
        let original = FileCopy.hash(of: place.path(place.original))
        if MediaFolder.kind(of: place.path(place.sidecar)) != nil {
            guard let sidecar = Sidecar.read(place.path(place.sidecar)), sidecar.id == asset.id,
                current == hashes.current, hashes.original == nil || original == hashes.original
            else { return .other }
            return sidecar == facts(of: asset, at: place, hashes) ? .whole : .outdated
        }
        let fits = current == hashes.current && (!hasOriginal || original == hashes.original)
        return fits ? .begun : .other
    }

    private func write(
        _ source: ExportSource,
        at place: ExportPlace
    ) throws(CaptureError) {
        try MediaFolder.make(place.folder)
        let current = try put(source.content, at: place.path(place.file), source.asset.sha256)
        var hashes = ExportSource.Hashes(current: current)
        if let original = source.original {
            hashes.original = try put(original, at: place.path(place.original), source.asset.originalSHA256)
        }
        // The names of the contents are on the disk before those of the facts, which vouch for them.
        try MediaFolder.sync(place.folder)
        let facts = try SidecarFile.bytes(facts(of: source.asset, at: place, hashes))
        try MediaFolder.write(facts, to: place.path(place.sidecar))
        for folder in [place.folder, String(place.folder.dropLast(3)), root] { try MediaFolder.sync(folder) }
    }

    /// Writes a content, unless it is there already from an export that was interrupted.
    private func put(
        _ content: Descriptor,
        at path: String,
        _ expected: String?
    ) throws(CaptureError) -> String {
        guard MediaFolder.kind(of: path) != nil else {
            return try MediaFolder.copy(content, to: path) { hash throws(CaptureError) in
                try ExportSource.check(hash, expected)
            }
        }
        let hash = try FileCopy.copy(content, to: nil)
        try ExportSource.check(hash, expected)
        return hash
    }

    private func facts(
        of asset: MediaAsset,
        at place: ExportPlace,
        _ hashes: ExportSource.Hashes
    ) -> Sidecar {
        Sidecar(
            asset,
            current: .init(file: place.file, sha256: hashes.current),
            original: hashes.original.map { .init(file: place.original, sha256: $0) },
            albums: membership[asset.id] ?? []
        )
    }

    /// Lists the albums, beside lists of exports before that had others.
    private func writeAlbums() throws(CaptureError) {
        let list = AlbumList(albums: albums)
        var attempt = 1
        while true {
            let path = root + (attempt == 1 ? "/albums.json" : "/albums (\(attempt)).json")
            if MediaFolder.kind(of: path) == nil { return try MediaFolder.write(try SidecarFile.bytes(list), to: path) }
            if AlbumList.read(path) == list { return }
            attempt += 1
        }
    }
}
