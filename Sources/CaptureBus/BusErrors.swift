public import CaptureCore
import CLinux
import CSystemd
import CaptureSystem
import Glibc

/// CaptureError to and from the errors of D-Bus.
public enum BusErrors {
    /// The prefix of our error names; the code follows.
    public static let prefix = "org.capturekit.Capture1.Error."
    /// The bus's own error for malformed arguments.
    public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"

    /// Refuses a message that would take more memory than any call of ours needs.
    public static let tooMuch = CaptureError(.invalidArgument, "the message has too many or too long values")

    /// Refuses a call because its user has too many unanswered calls.
    public static let tooMany = CaptureError(.busy, "too many calls of this user wait for an answer; try again later")

    /// A portal's store has no such entry; never leaves this module.
    public static let notFound = CaptureError.Code(rawValue: "NotFound")

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
    ///   - destination: The name that was called, for the message.
    ///   - path: The object that was called; an unknown one is a session or a device that is gone.
    public static func error(name: String, message: String, destination: String, path: String = "") -> CaptureError {
        if name.hasPrefix(prefix) {
            return CaptureError(.init(rawValue: String(name.dropFirst(prefix.count))), message)
        }
        let who = destination == CaptureNames.service ? "the capture daemon" : destination
        if name == "org.freedesktop.portal.Error.NotFound" { return CaptureError(notFound, message) }
        if name.hasPrefix("org.freedesktop.systemd1.") {
            return CaptureError(.unreachable, "the service cannot be started: \(message)")
        }
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
            return CaptureError(.notPermitted, "not allowed to call \(who) (\(message))")
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
            return CaptureError(.internalFault, "\(who) does not know this call; is it another version? (\(message))")
        case "LimitsExceeded":
            return CaptureError(.busy, "\(who) is overloaded (\(message))")
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

    /// How many bytes of an error's text are read, because any called program may send megabytes.
    private static let longestSentence = 16 << 10

    private static func sentence(_ text: UnsafePointer<CChar>) -> String {
        let length = unsafe strnlen(text, longestSentence)
        return unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// Explains why a bus accepted a connection but did not answer Hello.
    ///
    /// dbus-daemon looks up the user of each connection, and hangs up silently if it does not find one. It never finds
    /// dynamic users, even if other programs see their names: systemd does not answer the bus's look-ups, because the two
    /// would wait for each other.
    static func noGreeting(_ code: Int32, _ kind: BusKind, user: UInt32) -> CaptureError {
        let hasHungUp = [ENOTCONN, ECONNRESET, EPIPE].contains(-code)
        // systemd's range for them; their names are no help here.
        let isDynamic = (61184...65519).contains(user)
        guard hasHungUp, isDynamic || UserDatabase.user(user).value == nil else {
            return failure(code, "greet the \(kind) bus", as: .unreachable)
        }
        let who = isDynamic ? "user \(user), which systemd made for a unit with DynamicUser=" : "user \(user)"
        let place = isDynamic ? "in its unit, write 'User=NAME' in place of DynamicUser=yes" : "run it as that user"
        return CaptureError(
            .unreachable,
            "the \(kind) bus does not know \(who), and hung up; give the program a user of its own: "
                + "write 'u NAME' into /etc/sysusers.d/NAME.conf, run systemd-sysusers, and \(place)",
            errno: -code
        )
    }

    /// A failed call of libsystemd: a negative error number.
    static func failure(_ code: Int32, _ action: String, as kind: CaptureError.Code = .internalFault) -> CaptureError {
        CaptureError(kind, SystemError(action, errno: -code))
    }
}
