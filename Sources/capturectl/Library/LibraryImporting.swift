import CaptureKit

/// Adds what a plan has, one file after the other, with albums and edits.
struct LibraryImporting {
    private let library: MediaLibrary
    private let plan: ImportPlan
    private var summary = ImportSummary()
    /// The albums here by the ids that they had where they were exported.
    private var albums: [String: MediaAlbum.ID] = [:]
    private var existing: [MediaAlbum] = []
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
        for fault in plan.faults { summary.fail(fault.path, fault.message) }
        let needsAlbums = !plan.albums.isEmpty || plan.items.contains { $0.sidecar?.albums.isEmpty == false }
        let needsReading = needsAlbums || plan.items.contains { $0.sidecar?.original != nil }
        if needsReading {
            let status = try await library.requestAuthorization(for: .readWrite)
            if let why = LibraryPresentation.refusal(status) {
                throw CaptureError(
                    status == .restricted ? .restricted : .denied,
                    "albums and edits cannot be imported: " + why
                )
            }
        }
        if needsAlbums { existing = try await library.albums() }
        // Who may only add does not see what is there.
        let isReadable = [.authorized, .limited].contains(try await library.authorizationStatus(for: .readWrite))
        if isReadable, !addsTwins { twins = try await ImportTwins(of: plan, in: library) }
        for album in plan.albums { _ = try await here(album) }
        for item in plan.items {
            do throws(CaptureError) {
                if try await add(item) { summary.imported += 1 } else { summary.present += 1 }
            } catch {
                if MediaSourceFile.endsAll(error) {
                    Output.note(summary.text)
                    throw error
                }
                summary.fail(item.path, error.message)
            }
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
                throw CaptureError(.badData, "the name of its original has a slash in it")
            }
            first = try MediaSourceFile.open(item.folder + "/" + original.file, followsLink: false)
            try LibraryImporting.check(first, original)
        }
        let twin = try await twins?.take(item, first: first, current: current)
        let added = twin == nil ? try await add(first, item.facts, item.path) : nil
        guard sidecar.original != nil || !sidecar.albums.isEmpty else { return twin == nil }
        guard let id = twin?.id ?? added else {
            throw CaptureError(.denied, "it was added without its albums and edits, which takes reading the library")
        }
        if sidecar.original != nil, twin?.isEdited != true {
            let edit = try await library.beginEditing(id, with: current)
            _ = try await ImportProgress.follow(edit, named: item.path)
        }
        for album in sidecar.albums { try await library.add([id], toAlbum: try await here(album)) }
        return twin == nil
    }

    @discardableResult
    private func add(
        _ file: Descriptor,
        _ facts: AssetFacts,
        _ path: String
    ) async throws(CaptureError) -> MediaAsset.ID? {
        try await ImportProgress.follow(try await library.beginAdding(file, facts), named: path)
    }

    /// The album that stands for an exported one: one of its name that stands for no other, or a new one.
    private mutating func here(_ album: Sidecar.Album) async throws(CaptureError) -> MediaAlbum.ID {
        if let id = albums[album.id] { return id }
        let taken = Set(albums.values)
        let found = existing.first { $0.name == album.name && !taken.contains($0.id) }?.id
        let id: MediaAlbum.ID
        if let found { id = found } else { id = try await library.createAlbum(album.name) }
        albums[album.id] = id
        return id
    }

    /// Makes sure that a file is still what was exported.
    private static func check(_ file: Descriptor, _ content: Sidecar.Content) throws(CaptureError) {
        guard try FileCopy.copy(file, to: nil) == content.sha256 else {
            throw CaptureError(
                .badData,
                "\(Printable.text(content.file)) is not what was exported: its SHA-256 is another"
            )
        }
    }
}

/// What came of an import.
struct ImportSummary: Sendable {
    var imported = 0
    /// How many were in the library already.
    var present = 0
    var ignored = 0
    private(set) var failed: [ImportPlan.Fault] = []

    mutating func fail(_ path: String, _ message: String) {
        failed.append(.init(path: path, message: message))
        Output.message("\(Printable.text(path, limit: 1000)): \(Printable.text(message, limit: 1000))")
    }

    /// The exit's reason when some failed.
    var failure: CaptureError? {
        guard !failed.isEmpty else { return nil }
        return CaptureError(.badData, "\(failed.count) of \(imported + present + failed.count) not imported")
    }

    var text: String {
        var parts = ["\(Quantities.count(imported, "file")) imported"]
        if present > 0 { parts.append("\(present) there already") }
        if !failed.isEmpty { parts.append("\(failed.count) failed") }
        if ignored > 0 { parts.append("\(ignored) left out") }
        return parts.joined(separator: ", ")
    }

    var json: JSON {
        [
            "imported": JSON(imported), "present": JSON(present), "leftOut": JSON(ignored),
            "failed": .array(failed.map { ["file": JSON($0.path), "message": JSON($0.message)] }),
        ]
    }
}
