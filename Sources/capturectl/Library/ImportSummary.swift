import CaptureKit

/// What came of an import.
struct ImportSummary: Sendable {
    var imported = 0
    /// How many were in the library already.
    var present = 0
    var ignored = 0
    private(set) var failed: [ImportPlan.Fault] = []
    /// The names of albums that were not filled, or not with everything, and why.
    private(set) var failedAlbums: [(name: String, message: String)] = []

    mutating func fail(_ path: String, _ message: String) {
        failed.append(.init(path: path, message: message))
        Output.message("\(Printable.text(path, limit: 1000)): \(Printable.text(message, limit: 1000))")
    }

    mutating func fail(album name: String, _ message: String) {
        failedAlbums.append((name, message))
        Output.message("the album '\(Printable.text(name))': \(Printable.text(message, limit: 1000))")
    }

    /// The exit's reason when some failed.
    var failure: CaptureError? {
        var parts: [String] = []
        if !failed.isEmpty { parts.append("\(failed.count) of \(imported + present + failed.count) not imported") }
        if !failedAlbums.isEmpty { parts.append("\(Quantities.count(failedAlbums.count, "album")) not filled") }
        return parts.isEmpty ? nil : CaptureError(.badData, parts.joined(separator: ", "))
    }

    var text: String {
        var parts = ["\(Quantities.count(imported, "file")) imported"]
        if present > 0 { parts.append("\(present) already there") }
        if !failed.isEmpty { parts.append("\(failed.count) failed") }
        if ignored > 0 { parts.append("\(ignored) left out") }
        if !failedAlbums.isEmpty { parts.append("\(Quantities.count(failedAlbums.count, "album")) not filled") }
        return parts.joined(separator: ", ")
    }

    var json: JSON {
        [
            "imported": JSON(imported), "present": JSON(present), "leftOut": JSON(ignored),
            "failed": .array(
                failed.map { ["file": JSON($0.path), "message": JSON($0.message)] }
                    + failedAlbums.map { ["album": JSON($0.name), "message": JSON($0.message)] }
            ),
        ]
    }
}
