import CaptureBus
import CaptureCore

extension MediaAsset {
    /// An asset as the daemon describes it.
    ///
    /// - Throws: `badData` where it lacks what every asset has.
    init(_ facts: [String: BusValue]) throws(CaptureError) {
        guard let id = facts["id"]?.text, let kind = facts["kind"]?.text.flatMap(MediaAssetKind.init) else {
            throw CaptureDaemon.malformed("an asset")
        }
        let binned = facts["binned"]?.integer ?? 0
        self.init(
            id: id,
            kind: kind,
            name: facts["name"]?.text ?? "",
            mediaType: facts["media-type"]?.text ?? "",
            codec: facts["codec"]?.text ?? "",
            created: facts["created"]?.integer ?? 0,
            modified: facts["modified"]?.integer ?? 0,
            added: facts["added"]?.integer ?? 0,
            duration: facts["duration"]?.integer ?? 0,
            width: UInt32(clamping: facts["width"]?.integer ?? 0),
            height: UInt32(clamping: facts["height"]?.integer ?? 0),
            size: facts["size"]?.unsigned ?? 0,
            device: facts["device"]?.text ?? "",
            place: facts["place"].flatMap(MediaPlace.init),
            isFavourite: facts["favourite"]?.boolean ?? false,
            program: facts["program"]?.text ?? "",
            isEdited: facts["edited"]?.boolean ?? false,
            binned: binned == 0 ? nil : binned,
            sha256: facts["sha256"]?.text ?? "",
            originalSHA256: facts["original-sha256"]?.text
        )
    }

    /// The assets of an array; none where there is no array.
    static func list(_ value: BusValue?) throws(CaptureError) -> [MediaAsset] {
        try (value?.elements ?? []).map { element throws(CaptureError) in try MediaAsset(element.properties ?? [:]) }
    }
}

extension MediaPlace {
    init?(_ value: BusValue) {
        guard let numbers = value.elements?.compactMap(\.number), numbers.count == 2 else { return nil }
        self.init(latitude: numbers[0], longitude: numbers[1])
    }

    var busValue: BusValue { .structure([.double(latitude), .double(longitude)]) }
}

extension MediaAlbum {
    /// An album as the daemon describes it.
    ///
    /// - Throws: `badData` where it lacks what every album has.
    init(_ facts: [String: BusValue]) throws(CaptureError) {
        guard let id = facts["id"]?.text, let name = facts["name"]?.text else {
            throw CaptureDaemon.malformed("an album")
        }
        self.init(
            id: id,
            name: name,
            created: facts["created"]?.integer ?? 0,
            modified: facts["modified"]?.integer ?? 0,
            count: facts["count"]?.unsigned ?? 0
        )
    }

    /// The albums of an array; none where there is no array.
    static func list(_ value: BusValue?) throws(CaptureError) -> [MediaAlbum] {
        try (value?.elements ?? []).map { element throws(CaptureError) in try MediaAlbum(element.properties ?? [:]) }
    }
}
