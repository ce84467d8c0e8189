public import CaptureCore
import GRDB

/// The ids of picked assets, which programs may keep: different for each program, and always the same for one asset.
///
/// An id is the sealed id of the asset, so nothing is stored, and it is valid as long as the index. What it finds depends
/// on what the program may see. Thread-safe; calls wait for the disk.
public struct LibraryPicks: Sendable {
    private static let idSize = 16
    private let index: LibraryIndex

    init(_ index: LibraryIndex) { self.index = index }

    /// The ids by which a program may later ask for assets that were picked for it.
    ///
    /// - Parameters:
    ///   - assets: The ids of the assets.
    ///   - program: The program's id.
    /// - Returns: 88 hexadecimal digits for each, in the order given.
    /// - Throws: `invalidArgument` for a malformed id of an asset.
    public func ids(of assets: [String], for program: String) throws(CaptureError) -> [String] {
        for id in assets { try LibraryID.check(id, of: "an asset") }
        return try index.read { database in
            let sealing = try Sealing(database)
            return try assets.map { id in
                try sealing.seal(Sealing.bytes(id), for: LibraryPicks.purpose(program), isLasting: true)
            }
        }
    }

    /// The assets of some ids.
    ///
    /// - Parameters:
    ///   - ids: Ids that this program got by picking, and ids of assets.
    ///   - program: The id of the program that asks.
    ///   - scope: What it sees.
    /// - Returns: In the order given, each once. Assets that are gone, in the bin or not visible are left out, and so is
    ///   any text that is no id of this program.
    public func assets(
        of ids: [String],
        for program: String,
        scope: LibraryScope
    ) throws(CaptureError) -> [MediaAsset] {
        guard let reader = scope.reader else { return [] }
        return try index.read { database in
            let sealing = try Sealing(database)
            var seen: Set<String> = []
            return try ids.compactMap { text in
                let picked = try sealing.open(text, for: LibraryPicks.purpose(program), count: LibraryPicks.idSize)
                let id = picked.map { Hexadecimal.text($0) } ?? text
                guard Hexadecimal.isText(id, digits: 32), seen.insert(id).inserted,
                    let number = try Visibility.asset(id, reader, database)
                else { return nil }
                let asset = try database.asset(number: number)
                return asset.binned == nil ? asset : nil
            }
        }
    }

    private static func purpose(_ program: String) -> String { "picked for \(program)" }
}
