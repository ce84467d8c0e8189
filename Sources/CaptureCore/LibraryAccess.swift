/// How much of the media library a program asks for.
public enum LibraryLevel: String, Hashable, Sendable, CaseIterable {
    /// Adding assets; reading none, not even its own.
    case addOnly = "add-only"
    /// Reading and changing assets: all of them, or those that the person chose.
    case readWrite = "read-write"

    /// The consent that it takes.
    public var service: AuthorizationService {
        switch self {
        case .addOnly: .libraryAdd
        case .readWrite: .libraryReadWrite
        }
    }
}

/// The person's answers to both levels, and what follows from them. The levels are asked and stored separately, but an
/// answer to reading and changing also affects adding.
///
/// Source of the rule: Apple, "Delivering an Enhanced Privacy Experience in Your Photos App".
public struct LibraryAnswers: Hashable, Sendable {
    /// The answer to adding: `authorized`, `denied`, or `notDetermined` if it was never asked.
    public var add: AuthorizationStatus
    /// The answer to reading and changing: `authorized`, `limited`, `denied`, or `notDetermined`.
    public var readWrite: AuthorizationStatus

    /// Answers to both levels.
    public init(add: AuthorizationStatus = .notDetermined, readWrite: AuthorizationStatus = .notDetermined) {
        self.add = add
        self.readWrite = readWrite
    }

    /// The level whose answer counts for a level. A program that may read may add; a no to reading does not change
    /// adding.
    public func source(of level: LibraryLevel) -> LibraryLevel {
        level == .addOnly && !readWrite.isYes ? .addOnly : .readWrite
    }
}

/// The present access of a program to the media library, policy included.
public struct LibraryStatuses: Hashable, Sendable {
    /// Of adding.
    public var add: AuthorizationStatus
    /// Of reading and changing.
    public var readWrite: AuthorizationStatus

    /// Statuses of both levels.
    public init(add: AuthorizationStatus, readWrite: AuthorizationStatus) {
        self.add = add
        self.readWrite = readWrite
    }

    /// The status for a program that asks without a level, as programs did before there were two. It is the status of
    /// reading, with chosen assets counted as all.
    public var withoutLevel: AuthorizationStatus { readWrite.withoutLevel }
}

extension AuthorizationStatus {
    /// The status of reading and changing, as reported to a program that asks without a level.
    public var withoutLevel: AuthorizationStatus { self == .limited ? .authorized : self }
}

/// A person's choice for a program that has asked for reading, in a question or later in settings.
public enum LibraryChoice: String, Hashable, Sendable, CaseIterable {
    /// Neither adding nor reading.
    case none
    /// Adding alone.
    case addOnly = "add-only"
    /// Adding, and reading what was chosen.
    case limited
    /// Adding, and reading everything.
    case all

    /// The name of both levels together: in settings what a choice is set for, and as a service the status without a level.
    public static let serviceName = "library"

    /// The answers that it stands for.
    public var answers: LibraryAnswers {
        switch self {
        case .none: LibraryAnswers(add: .denied, readWrite: .denied)
        case .addOnly: LibraryAnswers(add: .authorized, readWrite: .denied)
        case .limited: LibraryAnswers(add: .authorized, readWrite: .limited)
        case .all: LibraryAnswers(add: .authorized, readWrite: .authorized)
        }
    }
}

/// Where a session's recording goes that is to be saved into the library, and what has to be asked before that is known.
public enum SaveStep: Hashable, Sendable {
    /// Into the library and the named album.
    case intoAlbum
    /// Into the library, and into no album.
    case intoLibrary
    /// The person is asked for this level; then it is decided again.
    case ask(LibraryLevel)
    /// Nowhere: the recording is kept for the person to save or discard.
    case refused

    /// The next step of a save. Each level is asked at most once a save.
    ///
    /// - Parameters:
    ///   - add: The status of adding now.
    ///   - readWrite: The status of reading and changing now.
    ///   - asked: The levels that were asked in this save.
    public static func next(
        add: AuthorizationStatus,
        readWrite: AuthorizationStatus,
        asked: Set<LibraryLevel>
    ) -> SaveStep {
        if readWrite == .authorized { return .intoAlbum }
        if readWrite == .notDetermined, !asked.contains(.readWrite) { return .ask(.readWrite) }
        switch add {
        case .authorized, .limited: return .intoLibrary
        case .notDetermined where !asked.contains(.addOnly): return .ask(.addOnly)
        default: return .refused
        }
    }
}
