import CaptureCore
import FoundationEssentials

/// What is written down of a recording under way, as JSON.
struct DraftRecord: Codable {
    var name: String
    var created: Int64?
    var device: String
    var latitude: Double?
    var longitude: Double?
    var favourite: Bool
    var album: String?
    var albumName: String?

    init(_ draft: AssetDraft) {
        name = draft.name
        created = draft.created
        device = draft.device
        latitude = draft.place?.latitude
        longitude = draft.place?.longitude
        favourite = draft.isFavourite
        album = draft.album
        albumName = draft.albumName
    }

    init(text: String) throws {
        self = try JSONDecoder().decode(DraftRecord.self, from: Data(text.utf8))
    }

    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    func draft() throws(CaptureError) -> AssetDraft {
        var place: MediaPlace?
        if let latitude, let longitude { place = try MediaPlace(latitude: latitude, longitude: longitude).checked() }
        return AssetDraft(
            name: name,
            created: created,
            device: device,
            place: place,
            isFavourite: favourite,
            album: album,
            albumName: albumName
        )
    }
}
