/// How a program stands with one service. The raw values are those of the bus.
public enum AuthorizationStatus: UInt32, Hashable, Sendable, CaseIterable {
    /// Never asked, or never answered: the next start may ask.
    case notDetermined = 0
    /// Policy forbids it; the user cannot change that.
    case restricted = 1
    /// The user said no.
    case denied = 2
    /// The user said yes.
    case authorized = 3
    /// Library only: yes, for chosen assets.
    case limited = 4

    /// The word for it, as `capturectl` prints it.
    public var name: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .authorized: "authorized"
        case .limited: "limited"
        }
    }
}

/// What a consent is for, by its name on the bus.
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
