import CaptureKit
import Glibc

/// What a photo's file may have inside, as a part of its asset.
enum InnerPart: CaseIterable, Sendable {
    /// The JPEG of a raw photo.
    case jpeg
    /// The movie of a live photo.
    case movie

    /// In a sentence.
    var word: String { self == .jpeg ? "JPEG" : "movie" }
    /// The photo that has it, in a sentence.
    var owner: String { self == .jpeg ? "raw photo" : "live photo" }
    /// Of its file's name.
    var ending: String { self == .jpeg ? ".jpg" : ".mp4" }

    /// Takes it out of a file; `nil` for one that does not have it.
    ///
    /// - Throws: `badData` for a file that says something impossible of it, `inputOutput` when it cannot be read.
    func bytes(of file: Descriptor) throws(CaptureError) -> [UInt8]? {
        switch self {
        case .jpeg: try EmbeddedJPEG(file: file)?.bytes
        case .movie: try MotionPhoto(file: file)?.movie
        }
    }
}

/// What is to be exported of an asset: its facts and its open contents.
struct ExportSource {
    /// As it is exported: as one without an edit where the edit or the original cannot be had.
    private(set) var asset: MediaAsset
    /// What is current.
    let content: Descriptor
    /// As it was added, where there is an edit.
    private(set) var original: Descriptor?
    /// What it has inside as a photo, where that is to be written, too.
    private(set) var inner: (part: InnerPart, bytes: [UInt8])?
    /// What is left out, and why; `nil` where nothing is.
    private(set) var loss: Loss?

    /// One of two contents that cannot be had.
    struct Loss {
        var version: AssetVersion
        var fault: CaptureError
    }

    /// The SHA-256 of the contents.
    struct Hashes {
        var current: String
        var original: String?
        /// Of what is inside.
        var inner: String?
    }

    /// Opens the contents.
    ///
    /// - Parameter loss: What is to be left out of an asset with an edit.
    /// - Throws: What the library says, as `inputOutput` of an asset whose file is missing. Of one with an edit a single
    ///   missing file is the `loss`, and the other is the content.
    init(_ asset: MediaAsset, in library: MediaLibrary, without loss: Loss? = nil) async throws(CaptureError) {
        guard asset.isEdited else {
            self.asset = asset
            content = try await library.contents(of: asset.id)
            return
        }
        var loss = loss
        var contents: [AssetVersion: Descriptor] = [:]
        for version in AssetVersion.allCases where loss?.version != version {
            do throws(CaptureError) {
                contents[version] = try await library.contents(of: asset.id, version: version)
            } catch {
                guard loss == nil, error.code == .inputOutput else { throw error }
                loss = Loss(version: version, fault: error)
            }
        }
        guard let content = contents[.current] ?? contents[.original] else {
            throw CaptureError(.inputOutput, "neither its edit nor its original can be read")
        }
        self.asset = asset
        self.content = content
        self.loss = loss
        if let loss {
            self.asset.isEdited = false
            if loss.version == .current { self.asset.sha256 = asset.originalSHA256 ?? "" }
            self.asset.originalSHA256 = nil
            var status = stat()
            if unsafe fstat(content.descriptor, &status) == 0 { self.asset.size = UInt64(clamping: status.st_size) }
        } else {
            original = contents[.original]
        }
    }

    /// Takes a part out of a photo, as it was added.
    ///
    /// - Throws: As `InnerPart.bytes`.
    mutating func take(_ part: InnerPart) throws(CaptureError) {
        if let bytes = try part.bytes(of: original ?? content) { inner = (part, bytes) }
    }

    /// Reads the contents.
    ///
    /// - Throws: `badData` when one is not what was added; `inputOutput` when it cannot be read.
    func hashes() throws(CaptureError) -> Hashes {
        var hashes = Hashes(current: try FileCopy.copy(content, to: nil))
        try ExportSource.check(hashes.current, asset.sha256)
        if let original {
            let hash = try FileCopy.copy(original, to: nil)
            try ExportSource.check(hash, asset.originalSHA256)
            hashes.original = hash
        }
        if let inner { hashes.inner = try FileHash.digits(of: inner.bytes) }
        return hashes
    }

    /// Which of an asset's two contents is to be left out since it is damaged; `nil` when there are no two.
    func damaged() throws(CaptureError) -> AssetVersion? {
        guard original != nil else { return nil }
        return try FileCopy.copy(content, to: nil) == asset.sha256 ? .original : .current
    }

    /// Refuses a content that is not the one that the library was given.
    ///
    /// - Parameter expected: What the library says; empty when it says nothing.
    static func check(_ hash: String, _ expected: String?) throws(CaptureError) {
        guard let expected, !expected.isEmpty, hash != expected else { return }
        throw CaptureError(
            .badData,
            "its file in the library is damaged, so it is not exported; 'library check' lists all damaged files"
        )
    }
}
