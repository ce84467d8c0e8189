import CaptureCore

/// The tables of albums, choices, counts and changes. All but `album` are written by triggers, in the transaction of
/// what they follow from, so that they cannot disagree with it.
///
/// A *reader* is who reads: the empty word for those that see everything, else the id of a program that sees what was
/// chosen for it and what it made. What is kept apart for each reader is never read past another's: so a program
/// neither pays for what it does not see nor can tell from anything, time included, that it is there.
enum ReadingSchema {
    /// The statements that make them; made anew for each library, because the key that seals its tokens is among them.
    static var statements: String {
        [
            tables, assetIndexes, listedIndexes, TallySchema.statements, ListSchema.assets, ListSchema.lists,
            AlbumSchema.statements, ChangeLog.statements, Sealing.statement,
        ].joined(separator: "\n")
    }

    /// The time now in milliseconds since 1970, by SQLite, since triggers have no other clock.
    static let clock = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

    /// `listed`: assets in lists; what a list is ordered and filtered by is repeated there, so that each page is found
    /// in an index. A row with an album and no reader is membership, one with a reader and no album a choice, one
    /// with both a member that was chosen. What a reader made itself is not repeated for it: such rows are found by
    /// their maker.
    ///
    /// `shown`: which albums each reader sees, and what of them: how many assets that are not in the bin, and when
    /// that last changed.
    ///
    /// `change`: what happened, for each reader in numbers of its own; `reader` tells the last number and the last
    /// that is forgotten.
    private static let tables = """
        CREATE TABLE album(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE CHECK(length(id) = 32),
            name TEXT NOT NULL CHECK(length(name) > 0),
            created INTEGER NOT NULL,
            program TEXT NOT NULL CHECK(length(program) > 0),
            -- The position of the last member.
            tail INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX albumOfProgram ON album(program);
        CREATE TABLE listed(
            asset INTEGER NOT NULL,
            album INTEGER NOT NULL,
            reader TEXT NOT NULL,
            position INTEGER NOT NULL,
            maker TEXT NOT NULL,
            binned INTEGER NOT NULL,
            kind TEXT NOT NULL,
            favourite INTEGER NOT NULL,
            created INTEGER NOT NULL,
            added INTEGER NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY(asset, album, reader),
            CHECK(reader != '' OR album != 0),
            CHECK(reader != maker)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE shown(
            reader TEXT NOT NULL,
            album INTEGER NOT NULL,
            assets INTEGER NOT NULL CHECK(assets >= 0),
            made INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            PRIMARY KEY(reader, album)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX shownByAlbum ON shown(album);
        CREATE TABLE tally(
            album INTEGER NOT NULL,
            reader TEXT NOT NULL,
            maker TEXT NOT NULL,
            binned INTEGER NOT NULL,
            level INTEGER NOT NULL,
            bucket INTEGER NOT NULL,
            photos INTEGER NOT NULL,
            markedPhotos INTEGER NOT NULL,
            movies INTEGER NOT NULL,
            markedMovies INTEGER NOT NULL,
            sounds INTEGER NOT NULL,
            markedSounds INTEGER NOT NULL,
            PRIMARY KEY(album, reader, maker, binned, level, bucket)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE reader(
            reader TEXT NOT NULL PRIMARY KEY,
            last INTEGER NOT NULL,
            forgotten INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE change(
            reader TEXT NOT NULL,
            number INTEGER NOT NULL,
            object TEXT NOT NULL,
            event INTEGER NOT NULL,
            isAlbum INTEGER NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY(reader, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX changeOfObject ON change(reader, object, number, event);
        INSERT INTO meta(key, value) VALUES('changes', \(ChangeLog.usualLimit));
        """

    /// For each order, one for what is filtered by kind and mark alone and one for what is filtered by program too.
    /// A page of several kinds is merged from the few ranges that each of them is.
    ///
    /// The bin has indexes of its own, which cost nothing as long as it is empty.
    private static let assetIndexes = AssetFetchOptions.Order.allCases.filter { $0 != .position }
        .map { order in
            """
            CREATE INDEX assetBy\(order.word) ON asset(binned, kind, favourite, \(order.key));
            CREATE INDEX assetOfProgramBy\(order.word) ON asset(program, binned, kind, favourite, \(order.key));
            CREATE INDEX binBy\(order.word) ON asset(kind, favourite, \(order.key)) WHERE binned IS NOT NULL;
            CREATE INDEX binOfProgramBy\(order.word) ON asset(program, kind, favourite, \(order.key))
                WHERE binned IS NOT NULL;
            """
        }
        .joined(separator: "\n")

    private static let listedIndexes =
        "CREATE INDEX member ON listed(album, position) WHERE reader = '';\n"
        + AssetFetchOptions.Order.allCases
        .map { order in
            """
            CREATE INDEX listedBy\(order.word)
                ON listed(album, reader, binned, kind, favourite, \(order.key), asset);
            CREATE INDEX listedOfMakerBy\(order.word)
                ON listed(album, reader, maker, binned, kind, favourite, \(order.key), asset);
            """
        }
        .joined(separator: "\n")
}
