/// Something that went wrong, in a form that can be shown, sent over the bus and turned into an exit code.
///
/// A sentence for a person: what was wrong, which value, what would be right.
public struct CaptureError: Error, Hashable, Sendable {
    /// The kind of a fault. It decides the D-Bus error name and the exit code.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The last word of the D-Bus error name.
        public var rawValue: String

        /// A code of the given name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The kind of the fault.
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
    /// The device's input has no signal, as an HDMI input without its cable.
    public static let noSignal = Self(rawValue: "NoSignal")
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
    /// No agent or terminal can ask the person.
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

    /// All codes, with the exit code of `capturectl` for each, after sysexits(3).
    package static let exitCodes: [Self: Int32] = [
        usage: 64,
        invalidArgument: 65, badData: 65, noSuchFormat: 65, staleToken: 65,
        noSuchDevice: 66, noSuchSession: 66, noSuchAsset: 66, noSuchAlbum: 66,
        unreachable: 69,
        internalFault: 70,
        inputOutput: 74, deviceLost: 74, noSignal: 74, recorderLost: 74, overQuota: 74,
        busy: 75, dismissed: 75, timedOut: 75, undecided: 75, nobodyToAsk: 75, askedTooOften: 75, wrongState: 75,
        denied: 77, restricted: 77, revoked: 77, switchedOff: 77, userAway: 77, notPermitted: 77,
        missingUsageDescription: 78,
    ]

    /// The exit code of `capturectl`; 70 for a code of a newer daemon.
    public var exitCode: Int32 { Self.exitCodes[self] ?? 70 }
}

extension CaptureError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension Result where Success: Sendable, Failure == CaptureError {
    /// What comes of some work.
    nonisolated(nonsending) package static func of(_ work: () async throws(CaptureError) -> Success) async -> Result {
        do throws(CaptureError) { return .success(try await work()) } catch { return .failure(error) }
    }
}
