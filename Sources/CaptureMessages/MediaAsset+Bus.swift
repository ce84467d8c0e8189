package import CaptureBus
package import CaptureCore

extension MediaAsset: BusRecord {
    /// An asset, wherever one is told of.
    package static let fields: [BusField<MediaAsset>] = [
        BusField("id", \.id, isRequired: true), BusField("kind", \.kind, isRequired: true), BusField("name", \.name),
        BusField("media-type", \.mediaType), BusField("codec", \.codec), BusField("created", \.created),
        BusField("modified", \.modified), BusField("added", \.added), BusField("duration", \.duration),
        BusField("width", \.width), BusField("height", \.height), BusField("size", \.size),
        BusField("device", \.device), BusField("place", \.place), BusField("favourite", \.isFavourite),
        BusField("program", \.program), BusField("edited", \.isEdited), BusField("binned", \.binned, none: .int64(0)),
        BusField("sha256", \.sha256), BusField("original-sha256", \.originalSHA256),
    ]
}

extension MediaAssetKind: BusFieldValue {}

extension MediaPlace: BusFieldValue {
    package static func field(_ value: BusValue) -> MediaPlace? {
        guard let numbers = value.elements?.compactMap(\.number), numbers.count == 2 else { return nil }
        return MediaPlace(latitude: numbers[0], longitude: numbers[1])
    }
    package var fieldValue: BusValue { .structure([.double(latitude), .double(longitude)]) }
}

extension MediaAlbum: BusRecord {
    /// An album, wherever one is told of.
    package static let fields: [BusField<MediaAlbum>] = [
        BusField("id", \.id, isRequired: true), BusField("name", \.name, isRequired: true),
        BusField("created", \.created), BusField("modified", \.modified), BusField("count", \.count),
    ]
}

extension LibraryChanges: BusRecord {
    /// What `GetChanges` tells; token and end stand beside it.
    package static let fields: [BusField<LibraryChanges>] = [
        BusField(list: "inserted", \.inserted), BusField(list: "changed", \.changed), BusField(list: "moved", \.moved),
        BusField("removed", \.removed), BusField(list: "albums-inserted", \.insertedAlbums),
        BusField(list: "albums-changed", \.changedAlbums), BusField("albums-removed", \.removedAlbums),
    ]

    /// No difference.
    package init() { self.init(token: LibraryChangeToken(rawValue: ""), isComplete: false) }
}
