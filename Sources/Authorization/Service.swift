public import CaptureCore

/// What a consent is for. One answer per program, user and service; a grant for one never opens another.
public enum Service: String, Hashable, Sendable, CaseIterable {
    /// Frames of any camera.
    case camera
    /// Samples of any microphone.
    case microphone
    /// Adding to the media library.
    case libraryAdd = "library-add"
    /// Reading and changing the media library.
    case libraryReadWrite = "library-read-write"

    /// The service that guards devices of the given kind.
    public init(_ mediaType: MediaType) {
        switch mediaType {
        case .video: self = .camera
        case .audio: self = .microphone
        }
    }
}
