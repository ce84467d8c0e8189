import CaptureBus
import CaptureCore
import MediaLibrary

extension Asset {
    /// As it travels.
    var properties: [String: BusValue] {
        var facts: [String: BusValue] = [
            "id": .string(id), "kind": .string(kind.rawValue), "name": .string(name),
            "media-type": .string(self.facts.mediaType), "codec": .string(self.facts.codec),
            "created": .int64(created), "modified": .int64(modified), "added": .int64(added),
            "duration": .int64(self.facts.duration), "width": .uint32(self.facts.width),
            "height": .uint32(self.facts.height), "size": .uint64(UInt64(clamping: size)), "device": .string(device),
            "favourite": .bool(isFavourite), "program": .string(program), "edited": .bool(isEdited),
            "binned": .int64(binned ?? 0), "sha256": .string(hash),
        ]
        facts["original-sha256"] = originalHash.map { .string($0) }
        facts["place"] = place.map { .structure([.double($0.latitude), .double($0.longitude)]) }
        return facts
    }
}

extension AlbumSummary {
    /// As it travels.
    var properties: [String: BusValue] {
        [
            "id": .string(id), "name": .string(name), "created": .int64(created), "modified": .int64(modified),
            "count": .uint64(UInt64(clamping: count)),
        ]
    }
}

extension AssetQuery {
    /// The query of a call.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "a query")
        self.init()
        kinds = try reader.assetKinds()
        from = try reader.number("from", Int64.min...Int64.max)
        until = try reader.number("until", Int64.min...Int64.max)
        album = try reader.text("album")
        program = try reader.text("program", longest: 4096)
        isFavourite = try reader.flag("favourite")
        isBinned = try reader.flag("binned") ?? false
        order = try reader.word("order", AssetOrder.self) ?? order
        ascending = try reader.flag("ascending") ?? false
        limit = try reader.number("limit", 1...AssetQuery.largestPage) ?? limit
        page = try reader.text("page", longest: 1024)
        try reader.end()
    }
}

extension AssetQuery {
    /// The query of a call that counts: in which order, how many at once and from where is not looked at.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    init(counting value: BusValue) throws(CaptureError) {
        let ignored: Set<String> = ["order", "limit", "page"]
        let facts = value.properties?.filter { !ignored.contains($0.key) }
        try self.init(busValue: facts.map { .properties($0) } ?? value)
    }
}

extension AssetDraft {
    /// The facts of an import.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an asset's facts")
        self.init(
            name: try reader.text("name") ?? "",
            created: try reader.number("created", Int64.min...Int64.max),
            device: try reader.text("device") ?? "",
            place: try reader.place(),
            isFavourite: try reader.flag("favourite") ?? false,
            album: try reader.text("album")
        )
        try reader.end()
    }
}

extension AssetChange {
    /// The changes of a call. A place of two numbers that are none takes the place away.
    ///
    /// - Throws: `.invalidArgument` that names the key, or says that nothing is changed.
    init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "a change")
        self.init(
            name: try reader.text("name"),
            created: try reader.number("created", Int64.min...Int64.max),
            isFavourite: try reader.flag("favourite"),
            place: try reader.newPlace()
        )
        try reader.end()
        guard self != AssetChange() else {
            throw CaptureError(.invalidArgument, "a change changes nothing; give name, created, place or favourite")
        }
    }
}

extension PropertyReader {
    /// The kinds of assets that are wanted; empty for all.
    mutating func assetKinds() throws(CaptureError) -> Set<AssetKind> {
        var kinds: Set<AssetKind> = []
        for word in try texts("kinds", most: AssetKind.allCases.count) ?? [] {
            guard let kind = AssetKind(rawValue: word) else {
                throw fault("kinds", "among \(AssetKind.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            kinds.insert(kind)
        }
        return kinds
    }

    /// Latitude and longitude.
    fileprivate mutating func coordinates() throws(CaptureError) -> (latitude: Double, longitude: Double)? {
        guard let value = take("place") else { return nil }
        guard case .structure(let members) = value, members.count == 2, case .double(let latitude) = members[0],
            case .double(let longitude) = members[1]
        else { throw fault("place", "of type '(dd)'") }
        return (latitude, longitude)
    }

    fileprivate mutating func place() throws(CaptureError) -> Place? {
        guard let found = try coordinates() else { return nil }
        return try Place(latitude: found.latitude, longitude: found.longitude)
    }

    /// A place, or that there is none any more, which two numbers say that are none (NaN).
    fileprivate mutating func newPlace() throws(CaptureError) -> AssetChange.NewPlace? {
        guard let found = try coordinates() else { return nil }
        if found.latitude.isNaN, found.longitude.isNaN { return AssetChange.NewPlace.none }
        return .at(try Place(latitude: found.latitude, longitude: found.longitude))
    }
}
