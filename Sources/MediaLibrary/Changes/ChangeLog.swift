import CaptureCore

/// What happened to an asset or an album for one reader; the numbers are in the index.
enum ChangeEvent {
    /// It became visible.
    static let appeared: Int64 = 1
    /// It is not visible any more.
    static let vanished: Int64 = 2
    /// Something about it is different.
    static let changed: Int64 = 3
    /// An asset joined or left an album or has another place there.
    static let moved: Int64 = 4
}

/// How much of what happened is remembered.
enum ChangeLog {
    /// Changes for each reader, at most.
    static let usualLimit: Int64 = 50_000
    /// Milliseconds: 90 days.
    static let usualAge: Int64 = 90 * 24 * 60 * 60 * 1000

    /// What is inserted into `noting` becomes the next change of a reader, and the oldest one is forgotten when there are
    /// too many. Each reader has as many of its own, so that none forgets sooner for what another sees.
    static let statements = """
        CREATE VIEW noting AS SELECT reader, object, isAlbum, event FROM change;
        CREATE TRIGGER notingInserted INSTEAD OF INSERT ON noting BEGIN
            INSERT INTO reader(reader, last, forgotten) VALUES(NEW.reader, 1, 0)
                ON CONFLICT DO UPDATE SET last = last + 1,
                    forgotten = max(forgotten, last + 1 - (SELECT value FROM meta WHERE key = 'changes'));
            INSERT INTO change(reader, number, object, event, isAlbum, at)
                SELECT NEW.reader, last, NEW.object, NEW.event, NEW.isAlbum, \(ReadingSchema.clock)
                FROM reader WHERE reader = NEW.reader;
            DELETE FROM change
                WHERE reader = NEW.reader AND number <= (SELECT forgotten FROM reader WHERE reader = NEW.reader);
        END;
        """
}
