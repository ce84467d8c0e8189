public import CaptureCore

/// The daemon's interfaces, as `config/org.capturekit.Capture1.xml` documents them: what vtables are made from, so that
/// introspection, code and reference cannot differ.
public enum CaptureInterfaces {
    /// Devices, sessions and health of the daemon.
    public static let manager = BusInterface(
        CaptureNames.manager,
        methods: [
            BusMethod("ListDevices", returns: [BusArgument("devices", "aa{sv}")]),
            BusMethod(
                "CreateSession",
                [BusArgument("description", "a{sv}"), BusArgument("files", "a{ss}")],
                returns: [BusArgument("session", "o")]
            ),
            BusMethod("OpenDoor", returns: [BusArgument("door", "h"), BusArgument("number", "u")]),
            BusMethod("ListSessions", returns: [BusArgument("sessions", "aa{sv}")]),
            BusMethod("ListUses", returns: [BusArgument("uses", "aa{sv}")]),
            BusMethod("ListHolders", returns: [BusArgument("holders", "aa{sv}")]),
            BusMethod("GetHealth", returns: [BusArgument("health", "a{sv}")]),
            BusMethod("Reload"),
            BusMethod("Subscribe"),
        ],
        properties: [BusProperty("Version", "s"), BusProperty("Synthetic", "b")],
        signals: [
            BusSignalDeclaration("DeviceAdded", [BusArgument("device", "a{sv}")]),
            BusSignalDeclaration("DeviceRemoved", [BusArgument("id", "s")]),
            BusSignalDeclaration("SessionAdded", [BusArgument("session", "o")]),
            BusSignalDeclaration("SessionRemoved", [BusArgument("session", "o")]),
            BusSignalDeclaration("UseChanged", [BusArgument("use", "a{sv}")]),
        ]
    )

    /// Consent: asking for it, reading it, changing it, and answering for the person.
    public static let authorization = BusInterface(
        CaptureNames.authorization,
        methods: [
            BusMethod("GetStatus", [BusArgument("service", "s")], returns: [BusArgument("status", "u")]),
            BusMethod("RequestAccess", [BusArgument("services", "as")], returns: [BusArgument("request", "u")]),
            BusMethod("CancelAccess", [BusArgument("request", "u")]),
            BusMethod("WhoAmI", returns: [BusArgument("identity", "a{sv}")]),
            BusMethod("List", returns: [BusArgument("entries", "aa{sv}")]),
            BusMethod(
                "GetProgramStatus",
                [BusArgument("user", "s"), BusArgument("program", "s")],
                returns: [BusArgument("statuses", "a{su}")]
            ),
            BusMethod(
                "Explain",
                [BusArgument("user", "s"), BusArgument("program", "s"), BusArgument("services", "as")],
                returns: [BusArgument("explanations", "aa{sv}")]
            ),
            BusMethod(
                "Set",
                [
                    BusArgument("user", "s"), BusArgument("program", "s"), BusArgument("service", "s"),
                    BusArgument("answer", "s"),
                ]
            ),
            BusMethod(
                "SetFor",
                [
                    BusArgument("user", "s"), BusArgument("program", "s"), BusArgument("service", "s"),
                    BusArgument("answer", "s"), BusArgument("options", "a{sv}"),
                ]
            ),
            BusMethod(
                "Reset",
                [BusArgument("user", "s"), BusArgument("program", "s"), BusArgument("service", "s")],
                returns: [BusArgument("removed", "u")]
            ),
            BusMethod(
                "GetHistory",
                [BusArgument("filter", "a{sv}")],
                returns: [BusArgument("entries", "aa{sv}"), BusArgument("next", "t")]
            ),
            BusMethod("RegisterAgent", [BusArgument("path", "o"), BusArgument("options", "a{sv}")]),
            BusMethod("UnregisterAgent", [BusArgument("path", "o")]),
            BusMethod("Answer", [BusArgument("cookie", "s"), BusArgument("answers", "a{sb}")]),
            BusMethod("AnswerFor", [BusArgument("cookie", "s"), BusArgument("answers", "a{sa{sv}}")]),
            BusMethod("Dismiss", [BusArgument("cookie", "s")]),
            BusMethod(
                "BrowseFor",
                [BusArgument("cookie", "s"), BusArgument("query", "a{sv}")],
                returns: [BusArgument("assets", "aa{sv}"), BusArgument("next", "s")]
            ),
            BusMethod(
                "ThumbnailFor",
                [BusArgument("cookie", "s"), BusArgument("id", "s"), BusArgument("size", "s")],
                returns: [BusArgument("picture", "h")]
            ),
            BusMethod(
                "AnswerPicked",
                [BusArgument("cookie", "s"), BusArgument("picked", "as"), BusArgument("dropped", "as")]
            ),
            BusMethod("SetSwitch", [BusArgument("service", "s"), BusArgument("on", "b")]),
        ],
        properties: [BusProperty("Switches", "a{sb}", emitsChange: true)],
        signals: [
            BusSignalDeclaration(
                "AccessDecided",
                [
                    BusArgument("request", "u"), BusArgument("errorCode", "s"), BusArgument("message", "s"),
                    BusArgument("statuses", "a{su}"),
                ]
            ),
            BusSignalDeclaration(
                "Changed",
                [
                    BusArgument("user", "s"), BusArgument("program", "s"), BusArgument("service", "s"),
                    BusArgument("status", "u"),
                ]
            ),
        ]
    )

    /// One session.
    public static let session = BusInterface(
        CaptureNames.session,
        methods: [
            BusMethod("Start"),
            BusMethod("Stop"),
            BusMethod("Configure", [BusArgument("description", "a{sv}"), BusArgument("files", "a{ss}")]),
            BusMethod(
                "AddOutput",
                [BusArgument("output", "a{sv}"), BusArgument("inputs", "as"), BusArgument("file", "s")]
            ),
            BusMethod("AddLibraryOutput", [BusArgument("output", "a{sv}"), BusArgument("inputs", "as")]),
            BusMethod("OpenBuffer", [BusArgument("output", "s")], returns: [BusArgument("ring", "h")]),
            BusMethod("GetStatistics", returns: [BusArgument("statistics", "a{sv}")]),
        ],
        properties: [
            BusProperty("Id", "u"), BusProperty("State", "s", emitsChange: true),
            BusProperty("ReasonCode", "s", emitsChange: true), BusProperty("Reason", "s", emitsChange: true),
            BusProperty("Program", "s"), BusProperty("User", "u"), BusProperty("Attached", "b"),
            BusProperty("Description", "a{sv}", emitsChange: true),
        ],
        signals: [
            BusSignalDeclaration(
                "OutputFinished",
                [
                    BusArgument("output", "s"), BusArgument("errorCode", "s"), BusArgument("message", "s"),
                    BusArgument("statistics", "a{sv}"),
                ]
            ),
            BusSignalDeclaration("OutputSaved", [BusArgument("output", "s"), BusArgument("result", "a{sv}")]),
            BusSignalDeclaration("BufferMoved", [BusArgument("output", "s")]),
        ]
    )

    /// One device and its controls.
    public static let device = BusInterface(
        CaptureNames.device,
        methods: [
            BusMethod("GetControls", returns: [BusArgument("controls", "aa{sv}")]),
            BusMethod("SetControl", [BusArgument("name", "s"), BusArgument("value", "x")]),
            BusMethod("ResetControls"),
        ],
        properties: [BusProperty("Description", "a{sv}")]
    )

    /// Who asks the person; implemented by clients.
    public static let agent = BusInterface(
        CaptureNames.agentInterface,
        methods: [
            BusMethod("Ask", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod("Confirm", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod("Pick", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod("Cancel", [BusArgument("cookie", "s")]),
        ]
    )

    /// Every interface of the daemon and its clients.
    public static let all: [BusInterface] = [manager, authorization, library, session, device, agent]
}

extension CaptureNames {
    /// The object of a session.
    public static func sessionPath(_ number: UInt32) -> String { "\(sessions)/\(number)" }

    /// The number of a session's object; `nil` for other paths.
    public static func sessionNumber(_ path: String) -> UInt32? {
        guard path.hasPrefix(sessions + "/") else { return nil }
        let digits = path.dropFirst(sessions.count + 1)
        guard let number = UInt32(digits), String(number) == digits else { return nil }
        return number
    }

    /// The object of a device: its id with every character that a path does not take as `_` and two hexadecimal
    /// digits (sd_bus_path_encode(3)).
    public static func devicePath(_ id: DeviceID) -> String {
        var path = devices + "/"
        if id.rawValue.isEmpty { return path + "_" }
        for (index, byte) in id.rawValue.utf8.enumerated() {
            let isLetter = (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            let isDigit = (0x30...0x39).contains(byte)
            if isLetter || (isDigit && index > 0) {
                path.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                path += byte < 16 ? "_0" : "_"
                path += String(byte, radix: 16)
            }
        }
        return path
    }
}
