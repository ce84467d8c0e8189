/// Something that went wrong, in a form that can be shown, sent over the bus and turned into an exit code.
///
/// A sentence for a person: what was wrong, which value, what would be right.
public struct CaptureError: Error, Hashable, Sendable {
    /// What kind of fault it is: decides the D-Bus error name and the exit code.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The last word of the D-Bus error name.
        public var rawValue: String

        /// A code of the given name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// What kind of fault it is.
    public var code: Code
    /// One sentence for a person at a terminal, without a full stop.
    public var message: String
    /// The system's error number beneath, 0 for none.
    public var errno: Int32

    /// An error of the given kind.
    public init(_ code: Code, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.message = message
        self.errno = errno
    }
}

extension CaptureError.Code {
    /// The command or call was put wrongly.
    public static let usage = Self(rawValue: "Usage")
    /// A value is out of range or of the wrong form.
    public static let invalidArgument = Self(rawValue: "InvalidArgument")
    /// Data is damaged or of an unknown form.
    public static let badData = Self(rawValue: "BadData")
    /// There is no such device.
    public static let noSuchDevice = Self(rawValue: "NoSuchDevice")
    /// There is no such session.
    public static let noSuchSession = Self(rawValue: "NoSuchSession")
    /// There is no such asset, or none that the program may see.
    public static let noSuchAsset = Self(rawValue: "NoSuchAsset")
    /// There is no such album, or none that the program may see.
    public static let noSuchAlbum = Self(rawValue: "NoSuchAlbum")
    /// The library does not know any more what has changed since that token: fetch anew.
    public static let staleToken = Self(rawValue: "StaleToken")
    /// The program or its user would keep more in the library than it may.
    public static let overQuota = Self(rawValue: "OverQuota")
    /// The device, or no device, offers that format.
    public static let noSuchFormat = Self(rawValue: "NoSuchFormat")
    /// The daemon cannot be reached, or went away.
    public static let unreachable = Self(rawValue: "Unreachable")
    /// A fault of the program's own.
    public static let internalFault = Self(rawValue: "Internal")
    /// Reading or writing failed, a full disk included.
    public static let inputOutput = Self(rawValue: "InputOutput")
    /// The device went away.
    public static let deviceLost = Self(rawValue: "DeviceLost")
    /// The recorder process ended before its file was finished.
    public static let recorderLost = Self(rawValue: "RecorderLost")
    /// The device is in use, by a program past the daemon or in another exact format.
    public static let busy = Self(rawValue: "Busy")
    /// The prompt was closed without an answer.
    public static let dismissed = Self(rawValue: "Dismissed")
    /// Nobody answered in time.
    public static let timedOut = Self(rawValue: "TimedOut")
    /// The person is being asked just now: request access, and call again when that is decided.
    public static let undecided = Self(rawValue: "Undecided")
    /// There is nobody to ask.
    public static let nobodyToAsk = Self(rawValue: "NobodyToAsk")
    /// Too many questions of the program came to nothing just now; the message says when it may ask again.
    public static let askedTooOften = Self(rawValue: "AskedTooOften")
    /// The person said no.
    public static let denied = Self(rawValue: "Denied")
    /// Policy forbids it.
    public static let restricted = Self(rawValue: "Restricted")
    /// The consent was withdrawn while in use.
    public static let revoked = Self(rawValue: "Revoked")
    /// The service is switched off for every program.
    public static let switchedOff = Self(rawValue: "SwitchedOff")
    /// The session of the program's user is locked, or another user sits at the machine.
    public static let userAway = Self(rawValue: "UserAway")
    /// The caller is not allowed to do that.
    public static let notPermitted = Self(rawValue: "NotPermitted")
    /// The program does not say why it captures.
    public static let missingUsageDescription = Self(rawValue: "MissingUsageDescription")
    /// The session is not in a state for that.
    public static let wrongState = Self(rawValue: "WrongState")

    /// The exit code of `capturectl`, after sysexits(3).
    public var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .invalidArgument, .badData, .noSuchFormat, .staleToken: 65
        case .noSuchDevice, .noSuchSession, .noSuchAsset, .noSuchAlbum: 66
        case .unreachable: 69
        case .inputOutput, .deviceLost, .recorderLost, .overQuota: 74
        case .busy, .dismissed, .timedOut, .undecided, .nobodyToAsk, .askedTooOften, .wrongState: 75
        case .denied, .restricted, .revoked, .switchedOff, .userAway, .notPermitted: 77
        case .missingUsageDescription: 78
        default: 70
        }
    }
}

extension CaptureError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
