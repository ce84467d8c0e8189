import CaptureKit
import Glibc

/// What a folder has to be imported.
struct ImportPlan: Sendable {
    /// A file with what is known of it.
    struct Item: Sendable {
        /// Where it is.
        var path: String
        /// Its folder.
        var folder: String
        /// What an export wrote beside it.
        var sidecar: Sidecar?

        /// What it is added with.
        var facts: AssetFacts { sidecar?.facts ?? AssetFacts(name: MediaSourceFile.name(of: path)) }
    }

    /// Something that cannot be imported.
    struct Fault: Sendable {
        var path: String
        var message: String
    }

    /// In the order of their paths.
    private(set) var items: [Item] = []
    /// Facts that cannot be read, or whose files are not there.
    private(set) var faults: [Fault] = []
    /// The albums that an export of everything listed.
    private(set) var albums: [Sidecar.Album] = []
    /// How many links, hidden files, older versions and others were left out.
    private(set) var ignored = 0
    /// Files that are left out since there is a later one of the same asset, and where that is.
    private(set) var older: [Fault] = []

    /// Looks through a folder.
    ///
    /// - Throws: `inputOutput` when it is no folder or cannot be read.
    init(of folder: String) throws(CaptureError) {
        guard !folder.isEmpty else { throw CaptureError(.usage, "the folder's name is empty") }
        var root = folder
        while root.count > 1, root.hasSuffix("/") { root.removeLast() }
        try look(root, isTop: true)
        leaveOutOlder()
    }

    /// Leaves one file of each asset: what was exported again after a change stands beside what was exported before it.
    private mutating func leaveOutOlder() {
        var latest: [String: Item] = [:]
        for item in items {
            guard let sidecar = item.sidecar else { continue }
            if let other = latest[sidecar.id]?.sidecar, !other.isOlder(than: sidecar) { continue }
            latest[sidecar.id] = item
        }
        items.removeAll { item in
            guard let sidecar = item.sidecar, let kept = latest[sidecar.id],
                FileName(kept.path) != FileName(item.path)
            else { return false }
            let isOlder = kept.sidecar.map { sidecar.isOlder(than: $0) } ?? false
            older.append(Fault(path: item.path, message: "\(isOlder ? "an older version" : "a copy") of \(kept.path)"))
            return true
        }
        ignored += older.count
    }

    private mutating func look(_ folder: String, isTop: Bool) throws(CaptureError) {
        let (names, unreadable) = try MediaFolder.names(in: folder)
        faults += unreadable.map {
            Fault(path: folder + "/" + $0, message: "its name is not UTF-8, which the library needs; rename it")
        }
        let files = Set(names.filter { MediaFolder.kind(of: folder + "/" + $0) == S_IFREG }.map(FileName.init))
        let (sidecars, others) = facts(in: folder, files, isTop: isTop)
        // What stands for an edit's original comes with the edited file, and what a photo has inside, as it was exported,
        // with the photo.
        let originals = Set(sidecars.values.compactMap { $0.original.map { FileName($0.file) } })
        let inner = sidecars.values.flatMap { sidecar in InnerPart.allCases.compactMap { sidecar[$0] } }
        let insides = inner.filter { inside in
            files.contains(FileName(inside.file)) && FileCopy.hash(of: folder + "/" + inside.file) == inside.sha256
        }
        let parts = originals.union(insides.map { FileName($0.file) })
        for name in names {
            let path = folder + "/" + name
            let file = FileName(name)
            if files.contains(file) {
                guard !others.contains(file), !parts.contains(file) || sidecars[file] != nil else { continue }
                if name.hasPrefix("."), sidecars[file] == nil {
                    ignored += 1
                } else {
                    items.append(Item(path: path, folder: folder, sidecar: sidecars[file]))
                }
            } else if MediaFolder.kind(of: path) == S_IFDIR, !name.hasPrefix(".") {
                try look(path, isTop: false)
            } else {
                ignored += 1
            }
        }
    }

    /// The facts in a folder by the names of what they are about, and the names of the files that are no media.
    private mutating func facts(
        in folder: String,
        _ files: Set<FileName>,
        isTop: Bool
    ) -> (sidecars: [FileName: Sidecar], others: Set<FileName>) {
        var sidecars: [FileName: Sidecar] = [:]
        var others: Set<FileName> = []
        for name in files.sorted(by: { $0.text < $1.text }) {
            guard let subject = name.subject else { continue }
            let path = folder + "/" + name.text
            let sidecar = Sidecar.read(path).flatMap { FileName($0.current.file) == subject ? $0 : nil }
            // Exports of before left a content its name where that ends like one of facts: it has facts beside it, but is
            // none.
            if sidecar == nil || !files.contains(subject), files.contains(FileName(name.text + ".json")) { continue }
            others.insert(name)
            if isTop, let list = AlbumList.read(path) {
                albums += list.albums.filter { !albums.contains($0) }
            } else if let sidecar {
                if files.contains(subject) {
                    sidecars[subject] = sidecar
                } else {
                    faults.append(Fault(path: path, message: "the file that it describes is missing"))
                }
            } else if files.contains(subject) {
                // Imported without its facts it would have lost them without a word.
                others.insert(subject)
                faults.append(Fault(path: path, message: "it does not contain facts of the file beside it"))
            } else {
                ignored += 1
            }
        }
        return (sidecars, others)
    }
}
