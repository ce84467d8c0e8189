public import CaptureCore

/// An asset with the content that it had at a moment.
public struct AssetContent: Hashable, Sendable {
    /// The asset as it was.
    public let asset: MediaAsset
    let hash: String
}
