import CaptureCore
import GRDB
import Glibc

/// Files among the contents that the index does not have.
struct LibraryOrphans: Sendable {
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// Finds them.
    func find() throws(CaptureError) -> [FoundFault] {
        var faults: [FoundFault] = []
        for part in try base.folder.contents.parts() {
            guard
                Hexadecimal.isText(part, digits: 2),
                let open = try base.folder.contents.part(part)
            else {
                faults.append(FoundFault.orphan("contents/\(part)"))
                continue
            }
            let names = try open.names("the folder contents/\(part)")
            // 'g' comes after every hexadecimal digit.
            let known = try base.index.read { database in
                Set(
                    try String.fetchAll(
                        database,
                        sql: "SELECT hash FROM content WHERE hash >= ? AND hash < ?",
                        arguments: [part, part + "g"]
                    )
                )
            }
            for name in names where !known.contains(name) {
                // Its row may have come since.
                let isOrphan = try base.contents.alone { () throws(CaptureError) in
                    if try isExpected(name) { return false }
                    return try open.has(name)
                }
                if isOrphan { faults.append(FoundFault.orphan("contents/\(part)/\(name)")) }
            }
        }
        return faults
    }

    /// Whether a file has a row, or is on its way: what is doubtful goes when the library is opened next. To be asked
    /// while no content comes or goes.
    private func isExpected(_ name: String) throws(CaptureError) -> Bool {
        try base.index.read { try $0.hasContent(name) || $0.isDoubtful(name) }
    }

    /// Sets aside what was an orphan when it was looked for, if it is one still.
    ///
    /// - Returns: What came of it, in a sentence.
    func mend(_ file: String) throws(CaptureError) -> String {
        try base.contents.alone { () throws(CaptureError) in
            let parts = file.split(separator: "/").dropFirst()
            // Another than those of hashes is never expected.
            if parts.count > 1, let name = parts.last, try isExpected(String(name)) {
                return FoundFault.isMendedMeanwhile
            }
            guard let place = try base.folder.contents.setAside(file) else { return FoundFault.isGone }
            return "it is \(place) now"
        }
    }
}

extension FoundFault {
    fileprivate static func orphan(_ path: String) -> FoundFault {
        FoundFault(.orphaned, file: path, "the index does not have the file \(path)")
    }
}
