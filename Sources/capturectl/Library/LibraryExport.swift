import CaptureKit
import Glibc

/// Writes assets into a folder, with everything that is known of them. What is there is never written over,
/// but for the facts of a photo that get added what it has inside.
struct LibraryExport {
    private let library: MediaLibrary
    private let root: String
    /// What is taken out of photos.
    private let parts: [InnerPart]
    private let albums: [Sidecar.Album]
    /// The albums that each asset is in, in their order.
    private let membership: [MediaAsset.ID: [Sidecar.Album]]

    /// What came of an asset.
    private enum Outcome {
        case written
        case skipped
        /// Its files are there; what is known of it was another when they were written.
        case outdated(String)
        /// Its files are there, except for what it has inside, which cannot be written beside them.
        case without(InnerPart, CaptureError)
    }

    /// Looks up the albums and makes the folder.
    ///
    /// - Parameter parts: What is written, too, of what photos have inside.
    init(of library: MediaLibrary, to folder: String, with parts: [InnerPart] = []) async throws(CaptureError) {
        self.library = library
        self.parts = parts
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
            var source = try await open(asset, &summary)
            let outcome: Outcome
            do throws(CaptureError) {
                outcome = try export(source, &summary.places)
            } catch {
                // It may have been edited since it was listed.
                let now = error.code == .badData ? try await library.asset(asset.id) : asset
                if now.sha256 != asset.sha256 { return try await export(now, &summary) }
                // Of an edit and its original one may be whole.
                guard error.code == .badData, let version = try source.damaged() else { throw error }
                source = try await open(asset, without: .init(version: version, fault: error), &summary)
                outcome = try export(source, &summary.places)
            }
            switch outcome {
            case .written: summary.written += 1
            case .skipped: summary.skipped += 1
            case .outdated(let path):
                summary.skipped += 1
                Output.message(
                    "\(Printable.text(path, limit: 1000)) has older facts; remove it to have it written again"
                )
            case .without(let part, let reason):
                summary.skipped += 1
                summary.skip(part, of: asset.name, reason)
            }
            if let loss = source.loss { summary.lose(loss, of: asset.name) }
        } catch {
            // One that is damaged or was just deleted does not keep the others from being saved; a full disk does.
            if MediaSourceFile.endsAll(error) || [ENOSPC, EDQUOT, EROFS].contains(error.errno) { throw error }
            summary.fail(asset.name, error)
        }
    }

    private func open(
        _ asset: MediaAsset,
        without loss: ExportSource.Loss? = nil,
        _ summary: inout ExportSummary
    ) async throws(CaptureError) -> ExportSource {
        var source = try await ExportSource(asset, in: library, without: loss)
        for part in parts where asset.kind == .photo {
            do throws(CaptureError) {
                try source.take(part)
            } catch {
                summary.lose(part, of: asset.name, error)
            }
        }
        return source
    }

    /// - Parameter places: Those of the assets before it, which are not looked at again.
    private func export(_ source: ExportSource, _ places: inout Set<String>) throws(CaptureError) -> Outcome {
        let asset = source.asset
        var hashes: ExportSource.Hashes?
        var attempt = 0
        while true {
            attempt += 1
            let place = ExportPlace(of: asset, in: root, attempt: attempt)
            let file = place.path(place.file)
            if places.contains(file) { continue }
            let part = source.inner?.part
            let names = [place.file, place.sidecar, place.original] + (part.map { [place.name(of: $0)] } ?? [])
            var found = State.begun
            if names.contains(where: { MediaFolder.kind(of: place.path($0)) != nil }) {
                let known = if let hashes { hashes } else { try source.hashes() }
                hashes = known
                found = state(of: place, asset, known, part)
            }
            if case .other = found { continue }
            var outcome = Outcome.written
            switch found {
            case .whole: outcome = .skipped
            case .outdated: outcome = .outdated(place.path(place.sidecar))
            case .without(let part, let obstacle): outcome = .without(part, obstacle.error(at: place, part))
            case .incomplete: try write(source, at: place, replacingFacts: true)
            case .begun, .other: try write(source, at: place)
            }
            places.insert(file)
            return outcome
        }
    }

    private enum State {
        /// Somebody else's, or the asset's own from before it was edited.
        case other
        /// All of it, as it is now.
        case whole
        /// All of it, but with other facts.
        case outdated
        /// All of it but what is inside, which earlier exports left out.
        case incomplete
        /// As `incomplete`, and that cannot be added.
        case without(InnerPart, Obstacle)
        /// A part of it.
        case begun
    }

    /// Why a part cannot be added to what an earlier export wrote.
    private enum Obstacle {
        /// Its name is that of another file.
        case name
        /// The facts differ from those of today in other points, too.
        case facts

        func error(at place: ExportPlace, _ part: InnerPart) -> CaptureError {
            func shown(_ name: String) -> String { Printable.text(place.path(name), limit: 1000) }
            return switch self {
            case .name: CaptureError(.inputOutput, "\(shown(place.name(of: part))) is another file; move it away")
            case .facts:
                CaptureError(
                    .inputOutput,
                    "\(shown(place.sidecar)) has older facts; remove it to have both written"
                )
            }
        }
    }

    /// What stands at a place that is not free. The facts are written last: with them, everything is there.
    private func state(
        of place: ExportPlace,
        _ asset: MediaAsset,
        _ hashes: ExportSource.Hashes,
        _ part: InnerPart?
    ) -> State {
        let current = FileCopy.hash(of: place.path(place.file))
        let hasOriginal = MediaFolder.kind(of: place.path(place.original)) != nil
        let original = FileCopy.hash(of: place.path(place.original))
        let path = part.map { place.path(place.name(of: $0)) }
        let hasInner = path.map { MediaFolder.kind(of: $0) != nil } ?? false
        let inner = hasInner ? path.flatMap { FileCopy.hash(of: $0) } : nil
        if MediaFolder.kind(of: place.path(place.sidecar)) != nil {
            guard let sidecar = Sidecar.read(place.path(place.sidecar)), sidecar.id == asset.id,
                current == hashes.current, hashes.original == nil || original == hashes.original,
                part.flatMap({ sidecar[$0] }) == nil || inner == hashes.inner
            else { return .other }
            var facts = facts(of: asset, at: place, hashes, part)
            let missing = part.flatMap { sidecar[$0] == nil ? $0 : nil }
            if let missing, hasInner, inner != hashes.inner { return .without(missing, .name) }
            // One of the two exports wanted it, and the other did not.
            for one in InnerPart.allCases where one != part || one == missing { facts[one] = sidecar[one] }
            let isCurrent = sidecar == facts
            if let missing { return isCurrent ? .incomplete : .without(missing, .facts) }
            return isCurrent ? .whole : .outdated
        }
        let fits =
            current == hashes.current && (!hasOriginal || original == hashes.original)
            && (!hasInner || inner == hashes.inner)
        return fits ? .begun : .other
    }

    /// - Parameter replacesFacts: Whether the facts are there, and get added what is inside.
    private func write(
        _ source: ExportSource,
        at place: ExportPlace,
        replacingFacts replacesFacts: Bool = false
    ) throws(CaptureError) {
        try MediaFolder.make(place.folder)
        let current = try put(source.content, at: place.path(place.file), source.asset.sha256)
        var hashes = ExportSource.Hashes(current: current)
        if let original = source.original {
            hashes.original = try put(original, at: place.path(place.original), source.asset.originalSHA256)
        }
        if let inner = source.inner {
            let path = place.path(place.name(of: inner.part))
            if MediaFolder.kind(of: path) == nil { try MediaFolder.write(inner.bytes, to: path) }
            hashes.inner = try FileHash.digits(of: inner.bytes)
        }
        // The names of the contents are on the disk before those of the facts, which vouch for them.
        try MediaFolder.sync(place.folder)
        let facts = try SidecarFile.bytes(facts(of: source.asset, at: place, hashes, source.inner?.part))
        try MediaFolder.write(facts, to: place.path(place.sidecar), overwrite: replacesFacts)
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
        _ hashes: ExportSource.Hashes,
        _ part: InnerPart?
    ) -> Sidecar {
        Sidecar(
            asset,
            current: .init(file: place.file, sha256: hashes.current),
            original: hashes.original.map { .init(file: place.original, sha256: $0) },
            inner: part.flatMap { part in
                hashes.inner.map { (part, .init(file: place.name(of: part), sha256: $0)) }
            },
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
