/// What a consent is for, by its name on the bus. One answer per program, user and service; a grant for one never opens
/// another.
public enum AuthorizationService: String, Hashable, Sendable, CaseIterable, Comparable {
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

    /// Those that guard devices.
    public static let ofDevices: [AuthorizationService] = [.camera, .microphone]

    /// What it opens, in words that follow "use" or "allow".
    public var title: String {
        switch self {
        case .camera: "the camera"
        case .microphone: "the microphone"
        case .libraryAdd: "adding to the media library"
        case .libraryReadWrite: "the media library"
        }
    }

    /// In the order in which prompts and lists show them.
    public static func < (left: AuthorizationService, right: AuthorizationService) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
