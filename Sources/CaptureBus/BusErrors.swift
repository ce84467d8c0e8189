public import CaptureCore
import CLinux
import CSystemd
import CaptureSystem
import Glibc

/// CaptureError to and from the errors of D-Bus.
public enum BusErrors {
    /// What the names of our errors begin with; the code follows.
    public static let prefix = "org.capturekit.Capture1.Error."
    /// The bus's own error for arguments that are malformed.
    public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"

    /// Why a message is not taken in that would take more memory than any call of ours needs.
    public static let tooMuch = CaptureError(.invalidArgument, "the message has too many or too long values")

    /// Refuses a call because its user has too many unanswered calls.
    public static let tooMany = CaptureError(.busy, "too many calls of this user wait for an answer; try again later")

    /// A portal's store has no such entry; never leaves this module.
    static let notFound = CaptureError.Code(rawValue: "NotFound")

    private static let standard = "org.freedesktop.DBus.Error."

    /// The D-Bus error name of an error.
    public static func name(of error: CaptureError) -> String {
        let word = error.code.rawValue
        let isName =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (0x41...0x5a).contains(byte & 0xdf) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
            }
        return prefix + (isName ? word : CaptureError.Code.internalFault.rawValue)
    }

    /// The error that a D-Bus error means.
    ///
    /// - Parameters:
    ///   - name: The D-Bus error name.
    ///   - message: The sentence that came with it.
    ///   - destination: Whom the failed call was for, to name it.
    ///   - path: The object that was called: an unknown one is a session, or a device, that is gone.
    public static func error(name: String, message: String, destination: String, path: String = "") -> CaptureError {
        if name.hasPrefix(prefix) {
            return CaptureError(.init(rawValue: String(name.dropFirst(prefix.count))), message)
        }
        let who = destination == CaptureNames.service ? "the capture daemon" : destination
        if name == "org.freedesktop.portal.Error.NotFound" { return CaptureError(notFound, message) }
        guard name.hasPrefix(standard) else {
            return CaptureError(.internalFault, "\(who) failed: \(message) (\(name))")
        }
        let word = String(name.dropFirst(standard.count))
        switch word {
        case "ServiceUnknown", "NameHasNoOwner":
            return CaptureError(.unreachable, "\(who) is not running (\(message))")
        case "NoReply", "Timeout", "TimedOut":
            return CaptureError(.unreachable, "\(who) went away or did not answer (\(message))")
        case "Disconnected", "NoServer", "NoNetwork":
            return CaptureError(.unreachable, "the connection to the bus is lost (\(message))")
        case _ where word.hasPrefix("Spawn."):
            return CaptureError(.unreachable, "\(who) could not be started (\(message))")
        case "AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired":
            return CaptureError(.notPermitted, "\(who) may not be called so (\(message))")
        case "InvalidArgs", "InvalidSignature", "InconsistentMessage":
            return CaptureError(.invalidArgument, message)
        case "UnknownObject" where path.hasPrefix(CaptureNames.sessions + "/"):
            return CaptureError(
                .noSuchSession,
                "there is no session \(path.dropFirst(CaptureNames.sessions.count + 1))"
            )
        case "UnknownObject" where path.hasPrefix(CaptureNames.devices + "/"):
            return CaptureError(.noSuchDevice, "there is no such device")
        case "UnknownMethod", "UnknownInterface", "UnknownObject", "UnknownProperty", "PropertyReadOnly":
            return CaptureError(.internalFault, "\(who) does not know that: is it of another version? (\(message))")
        case "LimitsExceeded":
            return CaptureError(.busy, "\(who) has too much to do (\(message))")
        case "IOError", "FileNotFound", "FileExists":
            return CaptureError(.inputOutput, message)
        default:
            return CaptureError(.internalFault, "\(who) failed: \(message) (\(name))")
        }
    }

    /// The error of a message that is an error reply; `nil` for other messages. On the bus thread.
    static func error(in message: OpaquePointer, destination: String, path: String) -> CaptureError? {
        guard let error = unsafe sd_bus_message_get_error(message), let name = unsafe error.pointee.name else {
            return nil
        }
        let text = unsafe error.pointee.message.map { unsafe sentence($0) } ?? ""
        return self.error(name: unsafe String(cString: name), message: text, destination: destination, path: path)
    }

    /// How many bytes of an error's text are read: any program that is called may send megabytes.
    private static let longestSentence = 16 << 10

    private static func sentence(_ text: UnsafePointer<CChar>) -> String {
        let length = unsafe strnlen(text, longestSentence)
        return unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// Why a bus that was reached did not greet.
    ///
    /// dbus-daemon looks up the user of everyone who connects, and hangs up without a word on one that it does not find.
    /// Dynamic users are among those, even where other programs see their names: systemd keeps its own look-ups out of
    /// the bus's, which would wait for each other.
    static func noGreeting(_ code: Int32, _ kind: BusKind, user: UInt32) -> CaptureError {
        let hasHungUp = [ENOTCONN, ECONNRESET, EPIPE].contains(-code)
        // systemd's range for them; their names are no help here.
        let isDynamic = (61184...65519).contains(user)
        guard hasHungUp, isDynamic || UserDatabase.user(user).value == nil else {
            return failure(code, "greet the \(kind) bus", as: .unreachable)
        }
        return CaptureError(
            .unreachable,
            "the \(kind) bus hung up: it knows no user \(user)\(isDynamic ? " (of a unit with DynamicUser=)" : ""); "
                + "give the program a user of its own, by sysusers.d and User= in its unit, or run dbus-broker",
            errno: -code
        )
    }

    /// A failed call of libsystemd: a negative error number.
    static func failure(_ code: Int32, _ action: String, as kind: CaptureError.Code = .internalFault) -> CaptureError {
        CaptureError(kind, SystemError(action, errno: -code))
    }
}
