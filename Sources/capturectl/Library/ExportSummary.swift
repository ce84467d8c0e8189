import CaptureKit

/// What came of an export.
struct ExportSummary: Sendable {
    var written = 0
    var skipped = 0
    private(set) var failed = 0
    /// The paths of the assets' files.
    var places: Set<String> = []
    /// How many of those that are there lack their edits, and how many their originals, which could not be had.
    private(set) var unedited = 0
    private(set) var unoriginal = 0
    /// How many of those that are there lack what their photos have inside.
    private(set) var incomplete: [InnerPart: Int] = [:]
    /// The first failure.
    private var first: CaptureError?

    mutating func fail(_ name: String, _ error: CaptureError) {
        failed += 1
        first = first ?? error
        Output.message("\(Printable.text(name)): \(Printable.text(error.message, limit: 1000))")
    }

    mutating func lose(_ loss: ExportSource.Loss, of name: String) {
        let isEdit = loss.version == .current
        if isEdit { unedited += 1 } else { unoriginal += 1 }
        first = first ?? loss.fault
        let reason = Printable.text(loss.fault.message, limit: 1000)
        Output.message(
            "\(Printable.text(name)): "
                + (isEdit
                    ? "its edit cannot be read, so only the original is exported: \(reason)"
                    : "its original cannot be read, so only the edit is exported: \(reason)")
        )
    }

    mutating func lose(_ part: InnerPart, of name: String, _ fault: CaptureError) {
        incomplete[part, default: 0] += 1
        first = first ?? fault
        let reason = Printable.text(fault.message, limit: 1000)
        Output.message(
            "\(Printable.text(name)): the \(part.word) inside cannot be read, so only the \(part.owner) is exported: \(reason)"
        )
    }

    /// An earlier export wrote the photo, and what it has inside cannot be added.
    mutating func skip(_ part: InnerPart, of name: String, _ reason: CaptureError) {
        incomplete[part, default: 0] += 1
        first = first ?? reason
        Output.message(
            "\(Printable.text(name)): exported before, without its \(part.word), which cannot be added: \(reason.message)"
        )
    }

    /// The exit's reason when some failed, or lack something.
    var failure: CaptureError? {
        guard let first else { return nil }
        var parts: [String] = []
        if failed > 0 { parts.append("\(Quantities.count(failed, "asset")) not exported") }
        if unedited > 0 { parts.append("\(Quantities.count(unedited, "asset")) exported without the edit") }
        if unoriginal > 0 { parts.append("\(Quantities.count(unoriginal, "asset")) exported without the original") }
        for part in InnerPart.allCases {
            guard let count = incomplete[part] else { continue }
            parts.append("\(Quantities.count(count, "asset")) exported without the \(part.word) inside")
        }
        return CaptureError(first.code, "\(parts.joined(separator: ", ")): \(first.message)")
    }

    var text: String {
        var parts = ["\(Quantities.count(written, "asset")) exported"]
        if skipped > 0 { parts.append("\(skipped) already there") }
        if failed > 0 { parts.append("\(failed) failed") }
        if unedited > 0 { parts.append("\(unedited) without the edit") }
        if unoriginal > 0 { parts.append("\(unoriginal) without the original") }
        for part in InnerPart.allCases {
            if let count = incomplete[part] { parts.append("\(count) without the \(part.word) inside") }
        }
        return parts.joined(separator: ", ")
    }
}
