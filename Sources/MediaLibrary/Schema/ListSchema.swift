import CaptureCore

/// What follows of changes of assets and lists.
enum ListSchema {
    /// What the lists, counts and changes follow of the table of assets.
    static let assets = """
        CREATE TRIGGER assetInserted AFTER INSERT ON asset BEGIN
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(0, '', NEW.program, NEW.binned IS NOT NULL, NEW.kind, NEW.favourite, NEW.created, 1);
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT column1, NEW.id, 0, \(ChangeEvent.appeared) FROM (VALUES(''), (NEW.program))
                WHERE NEW.binned IS NULL;
        END;
        CREATE TRIGGER assetDeleted BEFORE DELETE ON asset BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT column1, OLD.id, 0, \(ChangeEvent.vanished) FROM (VALUES(''), (OLD.program))
                WHERE OLD.binned IS NULL;
            DELETE FROM listed WHERE asset = OLD.number AND album = 0;
            DELETE FROM listed WHERE asset = OLD.number AND reader = '';
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(0, '', OLD.program, OLD.binned IS NOT NULL, OLD.kind, OLD.favourite, OLD.created, -1);
        END;
        CREATE TRIGGER assetMoved AFTER UPDATE OF kind, name, created, added, favourite, binned ON asset
            WHEN (OLD.kind, OLD.name, OLD.created, OLD.added, OLD.favourite, OLD.binned IS NULL)
                IS NOT (NEW.kind, NEW.name, NEW.created, NEW.added, NEW.favourite, NEW.binned IS NULL)
        BEGIN
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(0, '', OLD.program, OLD.binned IS NOT NULL, OLD.kind, OLD.favourite, OLD.created, -1),
                    (0, '', NEW.program, NEW.binned IS NOT NULL, NEW.kind, NEW.favourite, NEW.created, 1);
            UPDATE listed SET binned = NEW.binned IS NOT NULL, kind = NEW.kind, favourite = NEW.favourite,
                    created = NEW.created, added = NEW.added, name = NEW.name
                WHERE asset = NEW.number;
        END;
        CREATE TRIGGER assetUpdated AFTER UPDATE ON asset WHEN OLD.binned IS NULL OR NEW.binned IS NULL BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT reader, NEW.id, 0,
                    CASE WHEN NEW.binned IS NOT NULL THEN \(ChangeEvent.vanished)
                        WHEN OLD.binned IS NOT NULL THEN \(ChangeEvent.appeared)
                        ELSE \(ChangeEvent.changed) END
                FROM (
                    SELECT '' AS reader
                    UNION ALL SELECT NEW.program
                    UNION ALL SELECT reader FROM listed WHERE asset = NEW.number AND album = 0
                );
        END;
        CREATE TRIGGER assetFixed BEFORE UPDATE OF number, id, program ON asset
            WHEN (OLD.number, OLD.id, OLD.program) IS NOT (NEW.number, NEW.id, NEW.program)
        BEGIN
            SELECT RAISE(ABORT, 'an asset keeps its number, id and program');
        END;
        """

    /// What follows of a row's coming and going in `listed`: counts; the rows that a choice and a membership together
    /// make; what readers are told. Rows of an album that is being deleted go without: its readers are told of the album.
    ///
    /// SQLite's triggers do not fire themselves, so that one which changes `listed` is never the one that follows from it.
    static let lists = """
        CREATE TRIGGER listedInserted AFTER INSERT ON listed BEGIN
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(NEW.album, NEW.reader, NEW.maker, NEW.binned, NEW.kind, NEW.favourite, NEW.created, 1);
        END;
        CREATE TRIGGER listedDeleted AFTER DELETE ON listed WHEN \(albumIsThere("OLD")) BEGIN
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(OLD.album, OLD.reader, OLD.maker, OLD.binned, OLD.kind, OLD.favourite, OLD.created, -1);
        END;
        CREATE TRIGGER listedUpdated AFTER UPDATE OF binned, kind, favourite, created ON listed BEGIN
            INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
                VALUES(OLD.album, OLD.reader, OLD.maker, OLD.binned, OLD.kind, OLD.favourite, OLD.created, -1),
                    (NEW.album, NEW.reader, NEW.maker, NEW.binned, NEW.kind, NEW.favourite, NEW.created, 1);
        END;

        CREATE TRIGGER chosen AFTER INSERT ON listed WHEN NEW.album = 0 BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT NEW.reader, id, 0, \(ChangeEvent.appeared) FROM asset
                WHERE number = NEW.asset AND NEW.binned = 0;
            INSERT INTO listed(asset, album, reader, position, maker, binned, kind, favourite, created, added, name)
                SELECT asset, album, NEW.reader, position, maker, binned, kind, favourite, created, added, name
                FROM listed WHERE asset = NEW.asset AND reader = '';
        END;
        CREATE TRIGGER unchosen AFTER DELETE ON listed WHEN OLD.album = 0 BEGIN
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT OLD.reader, id, 0, \(ChangeEvent.vanished) FROM asset
                WHERE number = OLD.asset AND OLD.binned = 0;
            DELETE FROM listed WHERE asset = OLD.asset AND reader = OLD.reader;
        END;
        CREATE TRIGGER joined AFTER INSERT ON listed WHEN NEW.reader = '' BEGIN
            \(told("NEW", by: 1, to: "SELECT '' AS reader UNION ALL SELECT NEW.maker"))
            INSERT INTO listed(asset, album, reader, position, maker, binned, kind, favourite, created, added, name)
                SELECT asset, NEW.album, reader, NEW.position, maker, binned, kind, favourite, created, added, name
                FROM listed WHERE asset = NEW.asset AND album = 0;
        END;
        CREATE TRIGGER departed AFTER DELETE ON listed WHEN OLD.reader = '' AND \(albumIsThere("OLD")) BEGIN
            \(told("OLD", by: -1, to: "SELECT '' AS reader UNION ALL SELECT OLD.maker"))
            DELETE FROM listed WHERE asset = OLD.asset AND album = OLD.album;
        END;
        CREATE TRIGGER joinedChosen AFTER INSERT ON listed WHEN NEW.reader != '' AND NEW.album != 0 BEGIN
            \(told("NEW", by: 1, to: "SELECT NEW.reader AS reader"))
        END;
        CREATE TRIGGER leftChosen AFTER DELETE ON listed
            WHEN OLD.reader != '' AND OLD.album != 0 AND \(albumIsThere("OLD"))
        BEGIN
            \(told("OLD", by: -1, to: "SELECT OLD.reader AS reader"))
        END;
        CREATE TRIGGER repositioned AFTER UPDATE OF position ON listed
            WHEN OLD.position != NEW.position AND NEW.reader = ''
        BEGIN
            UPDATE listed SET position = NEW.position WHERE asset = NEW.asset AND album = NEW.album AND reader != '';
        END;
        CREATE TRIGGER listedBinned AFTER UPDATE OF binned ON listed
            WHEN OLD.binned != NEW.binned AND NEW.album != 0
        BEGIN
            INSERT INTO showing(reader, album, change)
                SELECT reader, NEW.album, OLD.binned - NEW.binned
                FROM (SELECT NEW.reader AS reader UNION ALL SELECT NEW.maker WHERE NEW.reader = '');
        END;
        """

    /// Whether the album of a row is not being deleted, or there is none.
    private static func albumIsThere(_ row: String) -> String {
        "(\(row).album = 0 OR EXISTS(SELECT 1 FROM album WHERE number = \(row).album))"
    }

    /// The album of a row has so many more for these readers, and its asset has another place for them.
    private static func told(_ row: String, by change: Int, to readers: String) -> String {
        """
        INSERT INTO showing(reader, album, change)
                SELECT reader, \(row).album, \(change) FROM (\(readers)) WHERE \(row).binned = 0;
            INSERT INTO noting(reader, object, isAlbum, event)
                SELECT reader, id, 0, \(ChangeEvent.moved) FROM asset CROSS JOIN (\(readers))
                WHERE number = \(row).asset AND \(row).binned = 0;
        """
    }
}
