/// A service that needs consent, by its name on the bus. A program has one answer per user and service; a grant for one
/// service never opens another.
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
        case .video, .depth, .metadata: self = .camera
        case .audio: self = .microphone
        }
    }

    /// Those that guard devices.
    public static let ofDevices: [AuthorizationService] = [.camera, .microphone]

    /// Those of the media library: its two levels.
    public static let ofLibrary: [AuthorizationService] = [.libraryAdd, .libraryReadWrite]

    /// Whether the person may answer yes for chosen assets alone.
    public var canBeLimited: Bool { self == .libraryReadWrite }

    /// The service's title, in words that follow "allow" or "was denied".
    public var title: String {
        switch self {
        case .camera: "the camera"
        case .microphone: "the microphone"
        case .libraryAdd: "adding to the media library"
        case .libraryReadWrite: "reading and changing the media library"
        }
    }

    /// The use of services, in words that follow "to" or "may", as in `use the camera and the microphone`.
    ///
    /// - Parameter isLimited: Whether of the library it is for chosen assets alone.
    public static func action(_ services: some Collection<AuthorizationService>, isLimited: Bool = false) -> String {
        let devices = ofDevices.filter(services.contains).map(\.title).joined(separator: " and ")
        let library =
            switch ofLibrary.filter(services.contains) {
            case [.libraryAdd]: ["add to the media library"]
            case [.libraryReadWrite]: ["read and change \(isLimited ? "chosen assets of " : "")the media library"]
            case []: [String]()
            default: ["add to, read and change the media library" + (isLimited ? ", but only chosen assets" : "")]
            }
        return ((devices.isEmpty ? [] : ["use " + devices]) + library).joined(separator: " and ")
    }

    /// In the order in which prompts and lists show them.
    public static func < (left: AuthorizationService, right: AuthorizationService) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
