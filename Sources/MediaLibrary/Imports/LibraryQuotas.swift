import CaptureCore
import GRDB

/// What somebody has in the library.
public struct LibraryUsage: Hashable, Sendable {
    /// How many assets, those in the bin included.
    public var assets: Int64 = 0
    /// Bytes of their originals and edits, each as often as an asset has it; for a program also of the edits that it
    /// made of others' assets, which count for both.
    public var bytes: Int64 = 0
}

/// How much programs and the user may keep.
struct LibraryQuotas: Sendable {
    private let index: LibraryIndex
    private let limits: LibraryLimits

    init(_ index: LibraryIndex, _ limits: LibraryLimits) {
        self.index = index
        self.limits = limits
    }

    /// What a program has in the library; what all have when it is `nil`. What is in the bin counts.
    ///
    /// - Throws: `inputOutput`.
    func usage(of program: String?) throws(CaptureError) -> LibraryUsage {
        try index.read { try LibraryQuotas.usage($0, of: program) }
    }

    static func usage(_ database: Database, of program: String?) throws -> LibraryUsage {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT coalesce(sum(assets), 0) AS assets,
                        coalesce(sum(bytes + iif(?1 IS NULL, 0, edits)), 0) AS bytes
                    FROM usage WHERE ?1 IS NULL OR program = ?1
                    """
            ),
            arguments: [program]
        )
        return LibraryUsage(
            assets: try row?.decode(forColumn: "assets") ?? 0,
            bytes: try row?.decode(forColumn: "bytes") ?? 0
        )
    }

    /// Refuses what would not fit, given what the program and all have and what is on its way.
    ///
    /// - Parameters:
    ///   - usage: What the program has.
    ///   - all: What all have.
    ///   - assets: How many are on their way or to come, of the program and of all.
    ///   - bytes: Theirs.
    ///   - program: What the program is called in the message.
    ///   - isPersons: Whether the person does it, who may know to the byte what there is.
    func check(
        _ usage: LibraryUsage,
        _ all: LibraryUsage,
        assets: (ofProgram: Int64, ofAll: Int64),
        bytes: (ofProgram: Int64, ofAll: Int64),
        program: String = "the program",
        isPersons: Bool = false
    ) throws(CaptureError) {
        func checkSum(_ found: Int64, _ more: Int64, _ limit: Int64, _ refusal: String) throws(CaptureError) {
            let (sum, isBeyond) = found.addingReportingOverflow(more)
            guard isBeyond || sum > limit else { return }
            throw CaptureError(
                .overQuota,
                "\(refusal), which is the limit; delete some; deleted assets count until the bin erases them, or is emptied with: "
                    + "capturectl library empty"
            )
        }
        func own(_ limit: Int64, _ what: String) -> String {
            "\(program) would have more than \(limit) \(what) in the media library"
        }
        try checkSum(usage.assets, assets.ofProgram, limits.programAssets, own(limits.programAssets, "assets"))
        try checkSum(usage.bytes, bytes.ofProgram, limits.programBytes, own(limits.programBytes, "bytes"))
        // Without a number, and in steps: how much others have is not a program's to find out.
        let theirs = "the media library would have more than its user may have (UserQuota=)"
        func others(_ all: Int64, _ own: Int64, _ limit: Int64) -> Int64 {
            let (grain, others) = (isPersons ? 1 : max(1, limit / LibraryQuotas.quotaSteps), max(0, all - own))
            return others > .max - grain ? others : (others + grain - 1) / grain * grain
        }
        let ofAll = (assets: all.assets + assets.ofAll, bytes: all.bytes + bytes.ofAll)
        let ofProgram = (assets: usage.assets + assets.ofProgram, bytes: usage.bytes + bytes.ofProgram)
        for (own, all, limit) in [
            (ofProgram.assets, ofAll.assets, limits.userAssets), (ofProgram.bytes, ofAll.bytes, limits.userBytes),
        ] {
            try checkSum(own, others(all, own, limit), limit, theirs)
        }
    }

    /// In how many steps of the user's quota a program is told by a refusal what others have.
    static let quotaSteps: Int64 = 32

    /// Refuses a change within its transaction when it has made more than may be there.
    ///
    /// - Parameter program: Whose; `nil` for what the person does, which the quota of all alone holds back.
    func check(_ database: Database, of program: String?, called name: String = "the program") throws {
        try check(
            program.map { try LibraryQuotas.usage(database, of: $0) } ?? LibraryUsage(),
            LibraryQuotas.usage(database, of: nil),
            assets: (0, 0),
            bytes: (0, 0),
            program: name,
            isPersons: program == nil
        )
    }
}
