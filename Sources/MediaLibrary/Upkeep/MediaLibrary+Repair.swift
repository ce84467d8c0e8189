public import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// Checks, and makes files and index agree again without destroying anything: files that do not belong, or are
    /// damaged, are moved to `lost+found` in the library's folder; an asset whose file is lost goes to the bin, one that
    /// lost its edit goes back to its original, and one that lost its original goes on with its edit. A check after this
    /// finds nothing more than what `outcome` says could not be mended.
    ///
    /// - Parameter progress: Told now and then how many bytes were read, and of how many; what it throws ends it.
    /// - Returns: What was at fault, and what was done about it.
    /// - Throws: `inputOutput`, what `progress` throws; what was mended before stays so.
    public func repair(
        progress: (_ read: Int64, _ of: Int64) throws(CaptureError) -> Void = { _, _ in }
    ) throws(CaptureError) -> [LibraryFault] {
        var faults = try check(progress: progress)
        // Lost edits first, so that no asset goes on with one of them.
        for index in faults.indices where faults[index].kind == .missing || faults[index].kind == .damaged {
            try mendLostFile(&faults[index], .edit)
        }
        for index in faults.indices {
            switch faults[index].kind {
            case .missing, .damaged: try mendLostFile(&faults[index], .original)
            case .orphaned: faults[index].outcome = try folder.setAside(faults[index].file).outcome
            case .index: continue
            }
        }
        if faults.contains(where: { $0.kind == .index }) {
            let rest = try mendIndex()
            for index in faults.indices where faults[index].kind == .index { faults[index].outcome = rest }
        }
        return faults
    }

    private enum Role {
        case edit
        case original
    }

    /// A content whose file is not what it should be: what is left of it is set aside, and its assets do without.
    private func mendLostFile(_ fault: inout LibraryFault, _ role: Role) throws(CaptureError) {
        let hash = String(fault.file.suffix(64))
        let isDamaged = fault.kind == .damaged
        let outcome = try turn.withLock { _ throws(CaptureError) in
            if role == .edit, isDamaged {
                _ = try folder.setAside(fault.file, suffix: ".damaged")
                try folder.removeThumbnails(hash)
            }
            return try write { database in
                try role == .edit
                    ? database.dropEdits(hash, now()) : database.dropOriginals(hash, now())
            }
        }
        let words = outcome.swept(self)
        let aside = isDamaged && role == .edit ? ["the file is in lost+found"] : []
        fault.outcome = ([fault.outcome].filter { !$0.isEmpty } + aside + words).joined(separator: ", ")
    }

    /// - Returns: What came of it, in a sentence.
    private func mendIndex() throws(CaptureError) -> String {
        try rebuildReading()
        let rest = try write { database in
            try database.execute(sql: "REINDEX")
            try database.execute(sql: "DELETE FROM usage")
            try database.execute(sql: "INSERT INTO usage(program, assets, bytes) \(LibraryUsage.counted)")
            return try String.fetchAll(database, sql: "PRAGMA integrity_check(1)").filter { $0 != "ok" }
                + Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(1).map { _ in "rows are missing" }
        }
        guard let why = rest.first else { return "what can be reckoned anew was" }
        return "this cannot be mended (\(why)): bring back a copy of the index"
    }
}

extension String? {
    /// What setting a file aside came to.
    fileprivate var outcome: String {
        map { "it is \($0) now" } ?? "it is gone by itself"
    }
}

extension Database {
    /// Assets whose edit this was go back to their original.
    fileprivate func dropEdits(_ hash: String, _ now: Int64) throws -> Released<[String]> {
        try execute(sql: "UPDATE asset SET edit = NULL, modified = ? WHERE edit = ?", arguments: [now, hash])
        let count = changesCount
        return Released(
            value: count > 0 ? ["\(count) went back to the original"] : [],
            hashes: try release([hash])
        )
    }

    /// Assets whose original this was go on with their edit, or go to the bin.
    fileprivate func dropOriginals(_ hash: String, _ now: Int64) throws -> Released<[String]> {
        var words: [String] = []
        try execute(
            sql: "UPDATE asset SET original = edit, edit = NULL, modified = ? WHERE original = ? AND edit IS NOT NULL",
            arguments: [now, hash]
        )
        if changesCount > 0 { words.append("\(changesCount) went on with the edit") }
        try execute(
            sql: "UPDATE asset SET binned = ? WHERE original = ? AND binned IS NULL",
            arguments: [now, hash]
        )
        if changesCount > 0 { words.append("\(changesCount) went to the bin") }
        return Released(value: words, hashes: try release([hash]))
    }
}
