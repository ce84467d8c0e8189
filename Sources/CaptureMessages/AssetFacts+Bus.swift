public import CaptureBus
public import CaptureCore

extension AssetFacts: BusCodable {
    /// `name` s, `created` x, `device` s, `place` (dd), `favourite` b, `album` s.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "an asset's facts")
        self.init(name: try reader.text("name"))
        created = try reader.number("created", Int64.min...Int64.max)
        device = try reader.text("device")
        place = try reader.coordinates()?.checked()
        isFavourite = try reader.flag("favourite")
        album = try reader.text("album")
        try reader.end()
    }

    /// The facts as `a{sv}`.
    public var busValue: BusValue {
        var facts: [String: BusValue] = [:]
        facts["name"] = name.map { .string($0) }
        facts["created"] = created.map { .int64($0) }
        facts["device"] = device.map { .string($0) }
        facts["place"] = place?.fieldValue
        facts["favourite"] = isFavourite.map { .bool($0) }
        facts["album"] = album.map { .string($0) }
        return .properties(facts)
    }
}

extension AssetChanges: BusCodable {
    /// `name` s, `created` x, `favourite` b, `place` (dd): two NaN remove the place.
    ///
    /// - Throws: `.invalidArgument` that names the key, or says that nothing is changed.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "a change")
        self.init(
            name: try reader.text("name"),
            created: try reader.number("created", Int64.min...Int64.max),
            isFavourite: try reader.flag("favourite")
        )
        if let place = try reader.coordinates() {
            removesPlace = place.latitude.isNaN && place.longitude.isNaN
            if !removesPlace { self.place = try place.checked() }
        }
        try reader.end()
        guard self != AssetChanges() else {
            throw CaptureError(.invalidArgument, "a change changes nothing; give name, created, place or favourite")
        }
    }

    /// The changes as `a{sv}`.
    public var busValue: BusValue {
        var facts: [String: BusValue] = [:]
        facts["name"] = name.map { .string($0) }
        facts["created"] = created.map { .int64($0) }
        facts["place"] = (removesPlace ? MediaPlace(latitude: .nan, longitude: .nan) : place)?.fieldValue
        facts["favourite"] = isFavourite.map { .bool($0) }
        return .properties(facts)
    }
}

extension PropertyReader {
    /// Latitude and longitude, whatever they are.
    fileprivate mutating func coordinates() throws(CaptureError) -> MediaPlace? {
        guard let value = take("place") else { return nil }
        guard case .structure(let members) = value, members.count == 2, case .double(let latitude) = members[0],
            case .double(let longitude) = members[1]
        else { throw fault("place", "of type '(dd)'") }
        return MediaPlace(latitude: latitude, longitude: longitude)
    }
}
