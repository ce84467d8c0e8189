import CaptureCore
import GRDB
import Glibc

/// Makes files and index agree again.
struct LibraryRepair: Sendable {
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// Mends what a check has found. That may be hours ago, so that everything is looked at once more before it is
    /// touched: a file may have come back with another import, or gone with its last asset.
    ///
    /// - Parameter goOn: Called before each fault; what it throws ends it.
    /// - Returns: The same faults, and what was done about them.
    func mend(
        _ found: [FoundFault],
        _ goOn: () throws(CaptureError) -> Void = { () throws(CaptureError) in }
    ) throws(CaptureError) -> [FoundFault] {
        var faults = found
        // Lost edits first, so that no asset goes on with one of them.
        for index in faults.indices where faults[index].kind == .missing || faults[index].kind == .damaged {
            try goOn()
            try mendLostFile(&faults[index], .edit)
        }
        for index in faults.indices {
            try goOn()
            switch faults[index].kind {
            case .missing, .damaged: try mendLostFile(&faults[index], .original)
            case .orphaned: faults[index].outcome = try LibraryOrphans(base).mend(faults[index].file)
            case .index: continue
            }
        }
        if faults.contains(where: { $0.kind == .index }) {
            let rest = try mendIndex()
            for index in faults.indices where faults[index].kind == .index {
                (faults[index].outcome, faults[index].isLeft) = rest
            }
        }
        return faults
    }

    private enum Role {
        case edit
        case original
    }

    private enum Standing {
        /// No asset has it any more.
        case gone
        /// Its file is there, and what its row says.
        case whole
        case lost
    }

    /// A content whose file is not what it should be: what is left of it is set aside, and its assets do without.
    private func mendLostFile(_ fault: inout FoundFault, _ role: Role) throws(CaptureError) {
        guard fault.outcome != FoundFault.isMendedMeanwhile else { return }
        let hash = String(fault.file.suffix(64))
        let file = fault.file
        let outcome: Released<[String]> = try base.contents.alone { () throws(CaptureError) in
            switch try look(at: hash) {
            case .gone: return Released(value: role == .edit ? [FoundFault.isGone] : [], hashes: [])
            case .whole: return Released(value: [FoundFault.isMendedMeanwhile], hashes: [])
            case .lost: break
            }
            let isAside = try base.folder.contents.setAside(file, suffix: ".damaged") != nil
            if isAside { try base.folder.thumbnails.remove(hash) }
            var outcome = try base.index.write { database in
                try role == .edit
                    ? database.dropEdits(hash, base.now()) : database.dropOriginals(hash, base.now())
            }
            if isAside { outcome.value.insert("the file is in lost+found", at: 0) }
            return outcome
        }
        let words = [fault.outcome].filter { !$0.isEmpty } + outcome.swept(base.contents)
        fault.outcome = words.joined(separator: ", ")
    }

    /// What has become of a content; to be asked while none comes or goes.
    private func look(at hash: String) throws(CaptureError) -> Standing {
        let row = try base.index.read { database in
            try Row.fetchOne(database, sql: "SELECT size FROM content WHERE hash = ?", arguments: [hash])
                .map { try $0.decode(Int64.self, forColumn: "size") }
        }
        guard let size = row else { return .gone }
        do throws(CaptureError) {
            guard let file = try base.folder.contents.open(hash) else { return .lost }
            let what = "the content \(hash)"
            guard try Int64(file.status(what).st_size) == size else { return .lost }
            return try file.hash(what).hash == hash ? .whole : .lost
        } catch  where ContentFiles.isLoss(error) {
            return .lost
        }
    }

    /// - Returns: The outcome in a sentence, and whether a fault is left.
    private func mendIndex() throws(CaptureError) -> (String, Bool) {
        try base.index.write { try $0.execute(sql: ReadingRecount.rebuild) }
        let rest = try base.index.write { database in
            try database.execute(sql: "REINDEX")
            try database.execute(sql: "DELETE FROM usage")
            try database.execute(sql: "INSERT INTO usage(program, assets, bytes, edits) \(LibraryUsage.counted)")
            return try String.fetchAll(database, sql: "PRAGMA integrity_check(1)").filter { $0 != "ok" }
                + Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(1).map { _ in "rows are missing" }
        }
        guard let why = rest.first else { return ("everything that could be recalculated was", false) }
        return ("this cannot be repaired (\(why)): restore a copy of the index", true)
    }
}

extension Database {
    /// Assets whose edit this was go back to their original.
    fileprivate func dropEdits(_ hash: String, _ now: Int64) throws -> Released<[String]> {
        try execute(
            sql: "UPDATE asset SET edit = NULL, editor = NULL, modified = ? WHERE edit = ?",
            arguments: [now, hash]
        )
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
            sql: "UPDATE asset SET original = edit, edit = NULL, editor = NULL, modified = ? "
                + "WHERE original = ? AND edit IS NOT NULL",
            arguments: [now, hash]
        )
        if changesCount > 0 { words.append("\(changesCount) went on with the edit") }
        try execute(
            sql: "UPDATE asset SET binned = ?, discarded = ? WHERE original = ? AND binned IS NULL",
            arguments: [now, houseClock(at: now), hash]
        )
        if changesCount > 0 { words.append("\(changesCount) went to the bin") }
        return Released(value: words, hashes: try release([hash]))
    }
}
