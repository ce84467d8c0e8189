import CaptureKit

/// Assets, albums and the library's state, as rows and as JSON.
enum LibraryPresentation {
    /// How many digits of an id a table shows.
    static let shownDigits = 12

    static func table(_ assets: [MediaAsset]) -> Table {
        var table = Table([
            "ID", "KIND", "TAKEN", .text("NAME"), .optional(">SIZE"), .optional(">LASTS"), .optional(">PIXELS"),
            .optional(""), .detail("PROGRAM"),
        ])
        for asset in assets {
            table.add([
                String(asset.id.prefix(shownDigits)), asset.kind.rawValue, moment(asset.created), asset.name,
                Quantities.size(asset.size), duration(asset), pixels(asset), marks(asset), asset.program,
            ])
        }
        return table
    }

    /// Everything that is known of one, one fact in a line; what there is not is left out.
    static func text(_ asset: MediaAsset) -> String {
        let place = asset.place.map { "\($0.latitude), \($0.longitude)" }
        let lines: [(String, String?)] = [
            ("id", asset.id), ("name", asset.name), ("kind", asset.kind.rawValue),
            ("type", "\(asset.mediaType), \(asset.codec)"),
            ("size", "\(Quantities.size(asset.size)) (\(asset.size) bytes)"),
            ("pixels", asset.kind == .sound ? nil : pixels(asset)),
            ("lasts", asset.kind == .photo ? nil : duration(asset)), ("taken", moment(asset.created)),
            ("changed", moment(asset.modified)), ("added", moment(asset.added)),
            ("device", asset.device.isEmpty ? nil : asset.device), ("place", place),
            ("favourite", asset.isFavourite ? "yes" : "no"), ("edited", asset.isEdited ? "yes" : "no"),
            ("program", asset.program), ("in bin", asset.binned.map { "since \(moment($0))" }),
        ]
        return lines.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 11 - name.count) + Printable.text($0, limit: 1000) }
        }.joined(separator: "\n")
    }

    static func json(_ asset: MediaAsset) -> JSON {
        [
            "id": JSON(asset.id), "kind": JSON(asset.kind.rawValue), "name": JSON(asset.name),
            "mediaType": JSON(asset.mediaType), "codec": JSON(asset.codec),
            "created": .time(milliseconds: asset.created),
            "modified": .time(milliseconds: asset.modified), "added": .time(milliseconds: asset.added),
            "duration": asset.kind == .photo ? .null : .seconds(nanoseconds: asset.duration),
            "width": asset.kind == .sound ? .null : JSON(asset.width),
            "height": asset.kind == .sound ? .null : JSON(asset.height), "size": JSON(asset.size),
            "device": JSON(asset.device),
            "place": asset.place.map { ["latitude": JSON($0.latitude), "longitude": JSON($0.longitude)] } ?? .null,
            "favourite": JSON(asset.isFavourite), "program": JSON(asset.program), "edited": JSON(asset.isEdited),
            "binned": asset.binned.map { .time(milliseconds: $0) } ?? .null, "sha256": JSON(asset.sha256),
            "originalSha256": JSON(asset.originalSHA256),
        ]
    }

    static func table(_ albums: [MediaAlbum]) -> Table {
        var table = Table([.name("ID"), .text("NAME"), ">ASSETS", .detail("MADE"), .optional("CHANGED")])
        for album in albums {
            table.add([album.id, album.name, "\(album.count)", moment(album.created), moment(album.modified)])
        }
        return table
    }

    static func json(_ album: MediaAlbum) -> JSON {
        [
            "id": JSON(album.id), "name": JSON(album.name), "created": .time(milliseconds: album.created),
            "modified": .time(milliseconds: album.modified), "count": JSON(album.count),
        ]
    }

    static func table(_ faults: [LibraryFault]) -> Table {
        var table = Table(["FAULT", "ID", .text("FILE"), .text("WHAT")])
        for fault in faults {
            let what = fault.outcome.isEmpty ? fault.message : "\(fault.message): \(fault.outcome)"
            table.add([fault.kind, String((fault.asset ?? "").prefix(shownDigits)), fault.name, what])
        }
        return table
    }

    static func json(_ fault: LibraryFault) -> JSON {
        [
            "kind": JSON(fault.kind), "id": JSON(fault.asset), "name": JSON(fault.name),
            "message": JSON(fault.message), "outcome": JSON(fault.outcome), "left": JSON(fault.isLeft),
        ]
    }

    /// The differences, one in a line.
    static func text(_ changes: LibraryChanges) -> String {
        var lines: [String] = []
        func tell(_ what: String, _ assets: [MediaAsset]) {
            lines += assets.map { "\(what.padded(to: 9))asset  \($0.id)  \(Printable.text($0.name))" }
        }
        func tell(_ what: String, _ albums: [MediaAlbum]) {
            lines += albums.map { "\(what.padded(to: 9))album  \($0.id)  \(Printable.text($0.name))" }
        }
        tell("inserted", changes.inserted)
        tell("changed", changes.changed)
        tell("moved", changes.moved)
        lines += changes.removed.map { "removed  asset  \($0)" }
        tell("inserted", changes.insertedAlbums)
        tell("changed", changes.changedAlbums)
        lines += changes.removedAlbums.map { "removed  album  \($0)" }
        return lines.joined(separator: "\n")
    }

    static func json(_ changes: LibraryChanges) -> JSON {
        [
            "inserted": .array(changes.inserted.map(json)), "changed": .array(changes.changed.map(json)),
            "moved": .array(changes.moved.map(json)), "removed": .array(changes.removed.map { JSON($0) }),
            "albumsInserted": .array(changes.insertedAlbums.map(json)),
            "albumsChanged": .array(changes.changedAlbums.map(json)),
            "albumsRemoved": .array(changes.removedAlbums.map { JSON($0) }),
            "token": JSON(changes.token.rawValue), "complete": JSON(changes.isComplete),
        ]
    }

    /// Why a program with that status reads and changes nothing; `nil` where it may.
    static func refusal(_ status: AuthorizationStatus) -> String? {
        switch status {
        case .denied: "reading and changing the media library is denied to this program; 'capturectl auth' changes that"
        case .restricted: "reading and changing the media library is restricted by policy"
        case .notDetermined: "nobody has decided whether this program may read and change the media library"
        case .authorized, .limited: nil
        }
    }

    private static func moment(_ milliseconds: Int64) -> String {
        Clock.Moment(seconds: milliseconds / 1000).text
    }

    private static func duration(_ asset: MediaAsset) -> String {
        asset.kind == .photo ? "" : Quantities.time(asset.duration)
    }

    private static func pixels(_ asset: MediaAsset) -> String {
        asset.kind == .sound ? "" : "\(asset.width)x\(asset.height)"
    }

    private static func marks(_ asset: MediaAsset) -> String {
        [asset.isFavourite ? "favourite" : "", asset.isEdited ? "edited" : ""].filter { !$0.isEmpty }
            .joined(separator: ", ")
    }
}

extension String {
    /// The text filled with spaces to a width; as it is when longer.
    fileprivate func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
