/// A place in a recording that players can jump to: a chapter begins there.
public struct RecordingMarker: Hashable, Sendable {
    /// Bytes of UTF-8 that a title may have: a chapter of MP4 has room for no more.
    public static let longestTitle = 255
    /// Markers that a recording may have: MP4 has room for no more.
    public static let most = 255

    /// The text that players show; may be empty.
    public let title: String

    /// A marker.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` for a title that is too long or has control characters.
    public init(_ title: String) throws(CaptureError) {
        guard title.utf8.count <= Self.longestTitle else {
            throw CaptureError(
                .invalidArgument,
                "a marker's title of \(title.utf8.count) bytes is too long: at most \(Self.longestTitle)"
            )
        }
        guard title.isLine else {
            throw CaptureError(.invalidArgument, "a marker's title has control characters; give one line of text")
        }
        self.title = title
    }
}

extension OutputDescription {
    /// Whether its file can have chapters: a movie, or sound in M4A.
    public var takesMarkers: Bool { kind == .movie || kind == .sound && format == "m4a" }
}
