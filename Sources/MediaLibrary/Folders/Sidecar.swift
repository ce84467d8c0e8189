import CaptureCore
import Foundation

/// What is said of an exported asset, in a file of JSON beside it: `NAME.json` beside `NAME`. Times are milliseconds since
/// 1970. What begins with `media` is for readers of the file; importing examines the content itself.
struct Sidecar: Codable, Hashable {
    static let format = "org.capturekit.asset"

    var format = Sidecar.format
    var version = 1
    var id: String
    /// The asset's own name, which its file may not have.
    var name: String
    var created: Int64
    var modified: Int64
    var added: Int64
    var device: String
    var latitude: Double?
    var longitude: Double?
    var favourite: Bool
    var program: String
    var sha256: String
    /// The name of the file with the edit, in the same folder.
    var edit: String?
    var editSha256: String?
    var mediaType: String
    var mediaCodec: String
    var mediaWidth: UInt32
    var mediaHeight: UInt32
    var mediaNanoseconds: Int64

    init(_ asset: Asset, original: String, edit: (file: String, hash: String)?) {
        id = asset.id
        name = asset.name
        created = asset.created
        modified = asset.modified
        added = asset.added
        device = asset.device
        latitude = asset.place?.latitude
        longitude = asset.place?.longitude
        favourite = asset.isFavourite
        program = asset.program
        sha256 = original
        self.edit = edit?.file
        editSha256 = edit?.hash
        mediaType = asset.facts.mediaType
        mediaCodec = asset.facts.codec
        mediaWidth = asset.facts.width
        mediaHeight = asset.facts.height
        mediaNanoseconds = asset.facts.duration
    }

    /// What is to be said of the asset again.
    func draft() throws(CaptureError) -> AssetDraft {
        var place: Place?
        if let latitude, let longitude { place = try Place(latitude: latitude, longitude: longitude) }
        return AssetDraft(name: name, created: created, device: device, place: place, isFavourite: favourite)
    }

    /// Refuses what was changed into something that cannot be stored.
    func check() throws(CaptureError) {
        try LibraryID.check(id, of: "an asset")
        try AssetDraft.checkTime(added)
        try AssetDraft.checkTime(modified)
        try LibraryName.checkText(program, "the program's id")
        guard !program.isEmpty else { throw CaptureError(.badData, "the program's id is empty") }
        if let edit { try LibraryName.check(edit, of: "a file") }
    }
}

/// An album in the file `albums.json` at the top of an exported library.
struct AlbumSidecar: Codable, Hashable {
    var name: String
    var program: String
    /// The files of its assets from the top of the folder, in the album's order.
    var files: [String]
}

/// JSON that people can read and compare.
enum FolderJSON {
    static func bytes(_ value: some Encodable) throws(CaptureError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
        } catch {
            throw CaptureError(.internalFault, "metadata cannot be written as JSON: \(error)")
        }
    }

    /// - Returns: `nil` for what is not JSON of that form.
    static func value<T: Decodable>(_: T.Type, _ bytes: [UInt8]) -> T? {
        try? JSONDecoder().decode(T.self, from: Data(bytes))
    }
}
