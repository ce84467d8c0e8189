import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// What lies among the contents and is none in the index.
    func orphans() throws(CaptureError) -> [LibraryFault] {
        var faults: [LibraryFault] = []
        for part in try LibraryFolder.names(in: folder.contents, "the folder of contents") {
            guard
                Hexadecimal.isText(part, digits: 2),
                let open = try? folder.existing(part, in: folder.contents, "the folder contents/\(part)")
            else {
                faults.append(LibraryFault.orphan("contents/\(part)"))
                continue
            }
            let names = try LibraryFolder.names(in: open, "the folder contents/\(part)")
            // 'g' comes after every hexadecimal digit.
            let known = try read { database in
                Set(
                    try String.fetchAll(
                        database,
                        sql: "SELECT hash FROM content WHERE hash >= ? AND hash < ?",
                        arguments: [part, part + "g"]
                    )
                )
            }
            for name in names where !known.contains(name) {
                if try isOrphan(name, in: open) { faults.append(LibraryFault.orphan("contents/\(part)/\(name)")) }
            }
        }
        return faults
    }

    /// Looks again while no content comes or goes: its row may have come since. What is doubtful is on its way out, or
    /// goes when the library is opened next.
    private func isOrphan(_ name: String, in part: OwnedDescriptor) throws(CaptureError) -> Bool {
        try turn.withLock { _ throws(CaptureError) in
            let isExpected = try read { try $0.hasContent(name) || $0.isDoubtful(name) }
            if isExpected { return false }
            return try LibraryFolder.isThere(name, in: part)
        }
    }
}

extension LibraryFault {
    fileprivate static func orphan(_ path: String) -> LibraryFault {
        LibraryFault(.orphaned, file: path, "the index does not have the file \(path)")
    }
}
