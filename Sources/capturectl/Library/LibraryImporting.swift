import CaptureKit

/// Adds what a plan has, one file after the other, with albums and edits.
struct LibraryImporting {
    private let library: MediaLibrary
    private let plan: ImportPlan
    private var summary = ImportSummary()
    private var albums: ImportAlbums?
    private let addsTwins: Bool
    private var twins: ImportTwins?

    /// - Parameter addsTwins: Whether what is there already is added once more.
    init(to library: MediaLibrary, _ plan: ImportPlan, addsTwins: Bool = false) {
        self.library = library
        self.plan = plan
        self.addsTwins = addsTwins
    }

    /// Imports everything.
    ///
    /// - Throws: What keeps every file out, such as a refusal. What keeps one out is in the summary.
    consuming func run() async throws(CaptureError) -> ImportSummary {
        summary.ignored = plan.ignored
        for file in plan.older {
            Output.message("left out: \(Printable.text("\(file.path), \(file.message)", limit: 2000))")
        }
        for fault in plan.faults { summary.fail(fault.path, fault.message) }
        let needsAlbums = !plan.albums.isEmpty || plan.items.contains { $0.sidecar?.albums.isEmpty == false }
        let needsReading = needsAlbums || plan.items.contains { $0.sidecar?.original != nil }
        if needsReading {
            try await LibraryRun.confirmAllowed(library, "albums and edits cannot be imported: ")
        }
        if needsAlbums { albums = try await ImportAlbums(in: library, listed: plan.albums) }
        // Who may only add does not see what is there.
        let isReadable = [.authorized, .limited].contains(try await library.authorizationStatus(for: .readWrite))
        if isReadable, !addsTwins { twins = try await ImportTwins(of: plan, in: library) }
        for item in plan.items {
            do throws(CaptureError) {
                if try await add(item) { summary.imported += 1 } else { summary.present += 1 }
            } catch {
                if MediaSourceFile.endsAll(error) {
                    Output.note(summary.text)
                    // Filled with a part they would not get their order any more.
                    if albums?.isWaiting == true {
                        Output.message("albums are filled once all files are there; to continue, import again")
                    }
                    throw error
                }
                summary.fail(item.path, error.message)
            }
        }
        do throws(CaptureError) {
            try await albums?.fill(&summary)
        } catch {
            Output.note(summary.text)
            throw error
        }
        return summary
    }

    /// Adds a file, or what an import before lacked of it.
    ///
    /// - Returns: Whether it was not there yet.
    private mutating func add(_ item: ImportPlan.Item) async throws(CaptureError) -> Bool {
        let current = try MediaSourceFile.open(item.path, followsLink: false)
        guard let sidecar = item.sidecar else {
            if try await twins?.take(item, first: current, current: current) != nil { return false }
            try await add(current, item.facts, item.path)
            return true
        }
        try LibraryImporting.check(current, sidecar.current)
        var first = current
        if let original = sidecar.original {
            guard !original.file.contains("/") else {
                throw CaptureError(.badData, "the name of its original contains a slash")
            }
            first = try MediaSourceFile.open(item.folder + "/" + original.file, followsLink: false)
            try LibraryImporting.check(first, original)
        }
        let twin = try await twins?.take(item, first: first, current: current)
        let added = twin == nil ? try await add(first, item.facts, item.path) : nil
        guard sidecar.original != nil || !sidecar.albums.isEmpty else { return twin == nil }
        guard let id = twin?.id ?? added else {
            throw CaptureError(.denied, "added without its albums and edits, which need reading the library")
        }
        if sidecar.original != nil, twin?.isEdited != true {
            let edit = try await library.beginEditing(id, with: current)
            try await ImportProgress.follow(edit, named: item.path)
        }
        for album in sidecar.albums { albums?.put(id, in: album) }
        return twin == nil
    }

    @discardableResult
    private func add(
        _ file: Descriptor,
        _ facts: AssetFacts,
        _ path: String
    ) async throws(CaptureError) -> MediaAsset.ID? {
        try await ImportProgress.follow(try await library.beginAdding(file, facts), named: path).id
    }

    /// Makes sure that a file is still what was exported.
    private static func check(_ file: Descriptor, _ content: Sidecar.Content) throws(CaptureError) {
        guard try FileCopy.copy(file, to: nil) == content.sha256 else {
            throw CaptureError(
                .badData,
                "\(Printable.text(content.file)) is not what was exported: its SHA-256 differs"
            )
        }
    }
}
