import CaptureCore

/// Who sees which album.
enum AlbumSchema {
    /// What is inserted into `showing` says that a reader sees so many more assets of an album, or
    /// fewer, or the same in another order: the first lets it appear, the last that goes lets it vanish.
    static let statements = """
        CREATE VIEW showing AS SELECT reader, album, 0 AS change FROM shown;
        CREATE TRIGGER showingInserted INSTEAD OF INSERT ON showing BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT NEW.reader, album.id, 1,
                    CASE WHEN shown.album IS NULL THEN \(ChangeEvent.appeared)
                        WHEN shown.made = 0 AND shown.assets + NEW.change = 0 THEN \(ChangeEvent.vanished)
                        ELSE \(ChangeEvent.changed) END
                FROM album LEFT JOIN shown ON shown.reader = NEW.reader AND shown.album = album.number
                WHERE album.number = NEW.album;
            INSERT INTO shown(reader, album, assets, made, modified)
                VALUES(NEW.reader, NEW.album, max(NEW.change, 0), 0, \(ReadingSchema.clock))
                ON CONFLICT DO UPDATE SET assets = assets + NEW.change, modified = excluded.modified;
            DELETE FROM shown WHERE reader = NEW.reader AND album = NEW.album AND made = 0 AND assets = 0;
        END;
        CREATE TRIGGER albumInserted AFTER INSERT ON album BEGIN
            INSERT INTO shown(reader, album, assets, made, modified)
                VALUES('', NEW.number, 0, 1, NEW.created), (NEW.program, NEW.number, 0, 1, NEW.created);
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT column1, NEW.id, 1, \(ChangeEvent.appeared) FROM (VALUES(''), (NEW.program));
        END;
        CREATE TRIGGER albumRenamed AFTER UPDATE OF name ON album WHEN OLD.name != NEW.name BEGIN
            UPDATE shown SET modified = \(ReadingSchema.clock) WHERE album = NEW.number;
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT reader, NEW.id, 1, \(ChangeEvent.changed) FROM shown WHERE album = NEW.number;
        END;
        CREATE TRIGGER albumDeleted AFTER DELETE ON album BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT reader, OLD.id, 1, \(ChangeEvent.vanished) FROM shown WHERE album = OLD.number;
            DELETE FROM shown WHERE album = OLD.number;
            DELETE FROM tally WHERE album = OLD.number;
            DELETE FROM listed WHERE album = OLD.number;
        END;
        """
}
