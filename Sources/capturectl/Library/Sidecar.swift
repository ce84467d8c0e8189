import CaptureKit
import FoundationEssentials

/// What stands in the file beside an exported one: everything that is known of the asset.
struct Sidecar: Codable, Equatable {
    /// A file with its content's SHA-256.
    struct Content: Codable, Equatable {
        /// The name, in the same folder.
        var file: String
        /// In hexadecimal digits.
        var sha256: String
    }

    /// An album that the asset is in.
    struct Album: Codable, Equatable {
        var id: String
        var name: String
        /// Where the asset stands in it, 0 for the first; `nil` in lists of albums and in exports that did not tell it.
        var position: Int?
    }

    /// By which a file is known as one of these.
    static let mark = "asset"

    var capturekit = Sidecar.mark
    var id: String
    var kind: String
    var name: String
    var mediaType: String
    var codec: String
    var created: Int64
    var modified: Int64
    var added: Int64
    var duration: Int64
    var width: UInt32
    var height: UInt32
    var size: UInt64
    var device: String
    var place: MediaPlace?
    var favourite: Bool
    var program: String
    /// The asset as it is, with its edit.
    var current: Content
    /// As it was added, where there is an edit.
    var original: Content?
    /// The JPEG that a raw photo has inside, where an export wrote it, too.
    var jpeg: Content?
    /// The movie that a live photo has inside, where an export wrote it, too.
    var movie: Content?
    var albums: [Album]

    init(
        _ asset: MediaAsset,
        current: Content,
        original: Content?,
        inner: (part: InnerPart, content: Content)?,
        albums: [Album]
    ) {
        id = asset.id
        kind = asset.kind.rawValue
        name = asset.name
        mediaType = asset.mediaType
        codec = asset.codec
        created = asset.created
        modified = asset.modified
        added = asset.added
        duration = asset.duration
        width = asset.width
        height = asset.height
        size = asset.size
        device = asset.device
        place = asset.place
        favourite = asset.isFavourite
        program = asset.program
        self.current = current
        self.original = original
        self.albums = albums
        if let inner { self[inner.part] = inner.content }
    }

    /// What the photo has inside, where an export wrote it.
    subscript(part: InnerPart) -> Content? {
        get { part == .jpeg ? jpeg : movie }
        set { if part == .jpeg { jpeg = newValue } else { movie = newValue } }
    }

    /// What `library import` says of the file.
    var facts: AssetFacts {
        var facts = AssetFacts(name: name)
        facts.created = created
        facts.device = device.isEmpty ? nil : device
        facts.place = place
        facts.isFavourite = favourite
        return facts
    }

    /// Whether the asset was changed after these facts of it were told, as the others know.
    ///
    /// Of the same time, those without the edit are the older ones: it could not be read.
    func isOlder(than other: Sidecar) -> Bool {
        modified == other.modified ? original == nil && other.original != nil : modified < other.modified
    }

    /// The sidecar in a file; `nil` when it cannot be read as one.
    static func read(_ path: String) -> Sidecar? {
        guard let sidecar: Sidecar = SidecarFile.read(path), sidecar.capturekit == mark else { return nil }
        return sidecar
    }
}

/// What stands at the top of an export of everything: its albums, empty ones too.
struct AlbumList: Codable, Equatable {
    static let mark = "albums"

    var capturekit = AlbumList.mark
    var albums: [Sidecar.Album]

    /// The list in a file; `nil` when it cannot be read as one.
    static func read(_ path: String) -> AlbumList? {
        guard let list: AlbumList = SidecarFile.read(path), list.capturekit == mark else { return nil }
        return list
    }
}

/// Facts as JSON in a file.
enum SidecarFile {
    /// The most bytes of one.
    private static let limit = 16 << 20

    static func read<Facts: Decodable>(_ path: String) -> Facts? {
        guard let text = MediaFolder.text(of: path, limit: limit) else { return nil }
        return try? JSONDecoder().decode(Facts.self, from: Data(text))
    }

    /// The facts as text, the same for the same facts.
    static func bytes(_ facts: some Encodable) throws(CaptureError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(facts)) + Array("\n".utf8)
        } catch {
            throw CaptureError(.internalFault, "the facts of an asset cannot be put as JSON: \(error)")
        }
    }
}
