import CaptureCore
import GRDB
import Glibc
import Synchronization

extension MediaLibrary {
    /// What lies among the contents and is none in the index.
    func orphans() throws(CaptureError) -> [FoundFault] {
        var faults: [FoundFault] = []
        for part in try LibraryFolder.names(in: folder.contents, "the folder of contents") {
            guard
                Hexadecimal.isText(part, digits: 2),
                let open = try folderOfContents(part)
            else {
                faults.append(FoundFault.orphan("contents/\(part)"))
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
                // Its row may have come since.
                let isOrphan = try turn.withLock { _ throws(CaptureError) in
                    if try isExpected(name) { return false }
                    return try LibraryFolder.isThere(name, in: open)
                }
                if isOrphan { faults.append(FoundFault.orphan("contents/\(part)/\(name)")) }
            }
        }
        return faults
    }

    /// The folder of the contents with these first digits; `nil` if it is gone or is no folder.
    ///
    /// - Throws: If it cannot be opened for another reason. For example, a full table of descriptors does not make its
    ///   contents orphans.
    private func folderOfContents(_ part: String) throws(CaptureError) -> OwnedDescriptor? {
        do throws(CaptureError) {
            return try folder.existing(part, in: folder.contents, "the folder contents/\(part)")
        } catch  where error.errno == ENOTDIR || error.errno == ELOOP {
            return nil
        }
    }

    /// Whether a file has a row, or is on its way: what is doubtful goes when the library is opened next. To be asked
    /// while no content comes or goes.
    private func isExpected(_ name: String) throws(CaptureError) -> Bool {
        try read { try $0.hasContent(name) || $0.isDoubtful(name) }
    }

    /// Sets aside what was an orphan when it was looked for, if it is one still.
    ///
    /// - Returns: What came of it, in a sentence.
    func mendOrphan(_ file: String) throws(CaptureError) -> String {
        try turn.withLock { _ throws(CaptureError) in
            let parts = file.split(separator: "/").dropFirst()
            // Another than those of hashes is never expected.
            if parts.count > 1, let name = parts.last, try isExpected(String(name)) {
                return FoundFault.isMendedMeanwhile
            }
            guard let place = try folder.setAside(file) else { return FoundFault.isGone }
            return "it is \(place) now"
        }
    }
}

extension FoundFault {
    fileprivate static func orphan(_ path: String) -> FoundFault {
        FoundFault(.orphaned, file: path, "the index does not have the file \(path)")
    }
}
