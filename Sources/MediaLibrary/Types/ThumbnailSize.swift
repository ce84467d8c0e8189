/// How large a small picture of an asset is.
public enum ThumbnailSize: String, Hashable, Sendable, CaseIterable {
    /// For many at a time.
    case small
    /// For one among others.
    case medium
    /// For looking at one.
    case large

    /// Pixels of its longer edge, at most.
    public var edge: UInt32 {
        switch self {
        case .small: 256
        case .medium: 1024
        case .large: 2048
        }
    }
}
