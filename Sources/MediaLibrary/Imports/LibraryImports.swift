public import CaptureCore
import GRDB
import Glibc

/// What comes into the library as a file: new assets, and edits of those that are there.
/// Thread-safe; calls wait for the disk.
public struct LibraryImports: Sendable {
    /// What each program that an import counts for has, and what all have.
    typealias Usage = (programs: [String: LibraryUsage], all: LibraryUsage)

    private let base: LibraryBase
    private let underway = ImportsUnderway()

    init(_ base: LibraryBase) { self.base = base }

    /// Begins to add a photo, a movie or a sound.
    ///
    /// - Parameters:
    ///   - draft: What the program says of it.
    ///   - program: The id of the program that adds it.
    /// - Throws: `invalidArgument` for a name or date that may not be stored; `overQuota`; `inputOutput`.
    public func begin(_ draft: AssetDraft, program: String) throws(CaptureError) -> LibraryImport {
        try draft.check()
        return try LibraryImport(self, .asset(draft), program: program)
    }

    /// Begins to add an edit of an asset: the original stays beside it, and an earlier edit goes when this one is
    /// committed. Its bytes count for the program that made the asset, and for the one that edits it.
    ///
    /// - Parameters:
    ///   - id: The asset's id.
    ///   - scope: What the program that edits it sees. It has to see the asset still when the edit is committed.
    ///   - program: The id of that program.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `wrongState` for one in the bin; `overQuota`;
    ///   `inputOutput`.
    public func beginEdit(
        _ id: String,
        scope: LibraryScope,
        program: String
    ) throws(CaptureError) -> LibraryImport {
        let key = try base.index.read { try $0.keyOutsideBin(id, scope) }
        return try LibraryImport(
            self,
            .edit(of: id, scope: scope, kind: key.kind, maker: key.program),
            program: program
        )
    }

    /// How many bytes one may have.
    var limit: Int64 { base.limits.contentBytes }

    /// What programs have, before an import.
    func usage(of programs: Set<String>) throws(CaptureError) -> Usage {
        var found: [String: LibraryUsage] = [:]
        for program in programs { found[program] = try base.quotas.usage(of: program) }
        return (found, try base.quotas.usage(of: nil))
    }

    /// Makes an import's file in transit.
    func makeFile(_ id: String) throws(CaptureError) -> OwnedDescriptor {
        try base.folder.transit.make(id, O_WRONLY, "a file for the import")
    }

    /// Counts an import from here on, until it is removed.
    func count(_ id: String, of usage: Usage, isAsset: Bool) {
        underway.begin(id, of: Set(usage.programs.keys), isAsset: isAsset)
    }

    /// An import has grown.
    func add(_ bytes: Int64, to id: String) { underway.add(bytes, to: id) }

    /// Refuses what is counted by now if it exceeds a quota, and more bytes than fit on the disk.
    func checkRoom(for bytes: Int64, of program: String, _ usage: Usage) throws(CaptureError) {
        for (payer, present) in usage.programs {
            let (ofProgram, ofAll) = underway.sums(of: payer)
            try base.quotas.check(
                present,
                usage.all,
                assets: (ofProgram.assets, ofAll.assets),
                bytes: (ofProgram.bytes, ofAll.bytes),
                program: payer == program ? "the program" : "the program that made the asset"
            )
        }
        try base.folder.transit.checkReserve(base.limits.reserve, beside: bytes)
    }

    /// Takes away every right to write an import's file, has it written to the disk, and opens it for reading.
    func seal(_ file: OwnedDescriptor, _ name: String) throws(CaptureError) -> OwnedDescriptor {
        try LibraryCall.check("an import cannot be protected") { fchmod(file.number, 0o400) }
        try file.synchronize("an import")
        return try base.folder.transit.open(name, "an import")
    }

    /// Takes a finished file into the library; see `LibraryImport.commit(_:)`.
    func take(
        _ staged: StagedContent,
        _ size: Int64,
        _ facts: ExaminedMedia,
        written: Int64?,
        for purpose: LibraryImport.Purpose,
        by program: String
    ) throws(CaptureError) -> MediaAsset {
        try facts.check()
        try base.folder.transit.checkReserve(base.limits.reserve, beside: 0)
        switch purpose {
        case .asset(var draft):
            draft.created = draft.created ?? facts.plausibleCreation ?? written.map { min($0, base.now()) }
            return try base.contents.settle(staged, size, facts) {
                try $0.insert(draft, program: program, content: staged.hash, facts, base.quotas, at: base.now())
            }
        case .edit(let id, let scope, let kind, _):
            guard facts.kind == kind else {
                throw CaptureError(
                    .badData,
                    "the edit of a \(kind.rawValue) has to be a \(kind.rawValue), and this is a \(facts.kind.rawValue)"
                )
            }
            return try base.contents.settle(staged, size, facts) {
                try $0.setEdit(staged.hash, by: program, of: $0.keyOutsideBin(id, scope), base.quotas, at: base.now())
            }.swept(base.contents)
        }
    }

    /// Removes an import's file, and counts it no more.
    func remove(_ id: String) {
        underway.end(id)
        base.folder.transit.drop(id)
    }
}
