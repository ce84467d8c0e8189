/// A program's access to a service. The raw values are a contract: they travel over the bus and are in the store.
public enum AuthorizationStatus: UInt32, Hashable, Sendable, CaseIterable {
    /// Never asked, or asked without an answer: nothing is stored, and the next start may ask.
    case notDetermined = 0
    /// Policy forbids it, and the user cannot change that.
    case restricted = 1
    /// The user said no; not asked again until changed in settings.
    case denied = 2
    /// The user said yes.
    case authorized = 3
    /// Library only: yes, for chosen assets.
    case limited = 4

    /// Whether it is a yes, to everything or to what was chosen.
    public var isYes: Bool { self == .authorized || self == .limited }

    /// The word by which commands, logs and files name it.
    public var word: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .authorized: "authorized"
        case .limited: "limited"
        }
    }

    /// The status that a word names.
    public init?(word: String) {
        guard let found = AuthorizationStatus.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}
