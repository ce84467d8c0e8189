/// The outcome for an output in the media library.
public struct SavedOutput: Hashable, Sendable {
    /// The asset's id; `nil` for a program that may add and not read.
    public var asset: String?
    /// The name of the album that it joined; `nil` for none.
    public var album: String?
    /// Why it is in the library, yet not in the intended place, in a sentence.
    public var remark: String?

    /// In the library, and what else there is to say.
    public init(asset: String? = nil, album: String? = nil, remark: String? = nil) {
        self.asset = asset
        self.album = album
        self.remark = remark
    }
}
