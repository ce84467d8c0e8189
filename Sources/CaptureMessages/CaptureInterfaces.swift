// Made from config/org.capturekit.Capture1.xml by .ci/interfaces, which a test compares.
public import CaptureBus

/// The interfaces of the daemon and its clients, from which vtables and signatures are made.
public enum CaptureInterfaces {
    /// `org.capturekit.Capture1.Manager`.
    public static let manager = BusInterface(
        "org.capturekit.Capture1.Manager",
        methods: [
            BusMethod("ListDevices", returns: [BusArgument("devices", "aa{sv}")]),
            BusMethod("OpenDoor", returns: [BusArgument("door", "h"), BusArgument("number", "u")]),
            BusMethod(
                "CreateSession",
                [BusArgument("description", "a{sv}"), BusArgument("files", "a{ss}")],
                returns: [BusArgument("session", "o")]
            ),
            BusMethod(
                "CreateSessionFor",
                [
                    BusArgument("process", "u"), BusArgument("started", "t"), BusArgument("connections", "a{uu}"),
                    BusArgument("said", "u"), BusArgument("bridge", "s"), BusArgument("description", "a{sv}"),
                    BusArgument("files", "a{ss}"),
                ],
                returns: [BusArgument("session", "o")]
            ),
            BusMethod("CheckMemory", [BusArgument("inodes", "at")]),
            BusMethod(
                "ReportStranger",
                [
                    BusArgument("process", "u"), BusArgument("started", "t"), BusArgument("other", "u"),
                    BusArgument("other_started", "t"), BusArgument("service", "s"),
                ]
            ),
            BusMethod("ListSessions", returns: [BusArgument("sessions", "aa{sv}")]),
            BusMethod("ListUses", returns: [BusArgument("uses", "aa{sv}")]),
            BusMethod("ListHolders", returns: [BusArgument("holders", "aa{sv}")]),
            BusMethod("GetHealth", returns: [BusArgument("health", "a{sv}")]),
            BusMethod("Reload"),
            BusMethod("Subscribe"),
        ],
        properties: [
            BusProperty("Version", "s"),
            BusProperty("Synthetic", "b"),
        ],
        signals: [
            BusSignalDeclaration("DeviceAdded", [BusArgument("device", "a{sv}")]),
            BusSignalDeclaration("DeviceRemoved", [BusArgument("id", "s")]),
            BusSignalDeclaration("SessionAdded", [BusArgument("session", "o")]),
            BusSignalDeclaration("SessionRemoved", [BusArgument("session", "o")]),
            BusSignalDeclaration("UseChanged", [BusArgument("use", "a{sv}")]),
        ]
    )

    /// `org.capturekit.Capture1.Authorization`.
    public static let authorization = BusInterface(
        "org.capturekit.Capture1.Authorization",
        methods: [
            BusMethod("GetStatus", [BusArgument("service", "s")], returns: [BusArgument("status", "u")]),
            BusMethod("RequestAccess", [BusArgument("services", "as")], returns: [BusArgument("request", "u")]),
            BusMethod("SetUsageDescriptions", [BusArgument("reasons", "a{ss}")]),
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
            BusMethod("ListAgents", returns: [BusArgument("agents", "aa{sv}")]),
            BusMethod("Answer", [BusArgument("cookie", "s"), BusArgument("answers", "a{sa{sv}}")]),
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
        properties: [
            BusProperty("Switches", "a{sb}", emitsChange: true)
        ],
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

    /// `org.capturekit.Capture1.Session`.
    public static let session = BusInterface(
        "org.capturekit.Capture1.Session",
        methods: [
            BusMethod("Start"),
            BusMethod("Stop"),
            BusMethod("Configure", [BusArgument("description", "a{sv}"), BusArgument("files", "a{ss}")]),
            BusMethod(
                "AddOutput",
                [BusArgument("output", "a{sv}"), BusArgument("inputs", "as"), BusArgument("file", "s")]
            ),
            BusMethod("PauseOutput", [BusArgument("output", "s")]),
            BusMethod("ResumeOutput", [BusArgument("output", "s")]),
            BusMethod("MarkOutput", [BusArgument("output", "s"), BusArgument("title", "s")]),
            BusMethod("AppendMetadata", [BusArgument("output", "s"), BusArgument("items", "a(xs)")]),
            BusMethod("BeginOutput", [BusArgument("output", "s"), BusArgument("start", "x")]),
            BusMethod("CutOutput", [BusArgument("output", "s")]),
            BusMethod("AddSegment", [BusArgument("output", "s"), BusArgument("file", "s")]),
            BusMethod(
                "EnableConnection",
                [BusArgument("input", "s"), BusArgument("output", "s"), BusArgument("enabled", "b")]
            ),
            BusMethod(
                "CapturePhoto",
                [BusArgument("output", "s"), BusArgument("settings", "a{sv}"), BusArgument("files", "a{ss}")],
                returns: [BusArgument("photo", "s")]
            ),
            BusMethod("SetGain", [BusArgument("output", "s"), BusArgument("gain", "d")]),
            BusMethod("WatchLevels", [BusArgument("output", "s"), BusArgument("watched", "b")]),
            BusMethod("OpenBuffer", [BusArgument("output", "s")], returns: [BusArgument("ring", "h")]),
            BusMethod("GetStatistics", returns: [BusArgument("statistics", "a{sv}")]),
        ],
        properties: [
            BusProperty("Id", "u"),
            BusProperty("State", "s", emitsChange: true),
            BusProperty("ReasonCode", "s", emitsChange: true),
            BusProperty("Reason", "s", emitsChange: true),
            BusProperty("Program", "s"),
            BusProperty("User", "u"),
            BusProperty("Attached", "b"),
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
            BusSignalDeclaration("SegmentBegan", [BusArgument("output", "s"), BusArgument("number", "u")]),
            BusSignalDeclaration("SegmentFinished", [BusArgument("output", "s"), BusArgument("segment", "a{sv}")]),
            BusSignalDeclaration("OutputSaved", [BusArgument("output", "s"), BusArgument("result", "a{sv}")]),
            BusSignalDeclaration("Levels", [BusArgument("output", "s"), BusArgument("levels", "a(dd)")]),
            BusSignalDeclaration("BufferMoved", [BusArgument("output", "s")]),
        ]
    )

    /// `org.capturekit.Capture1.Device`.
    public static let device = BusInterface(
        "org.capturekit.Capture1.Device",
        methods: [
            BusMethod("GetControls", returns: [BusArgument("controls", "aa{sv}")]),
            BusMethod("SetControl", [BusArgument("name", "s"), BusArgument("value", "x")]),
            BusMethod("ResetControls"),
            BusMethod("Lock"),
            BusMethod("Unlock"),
            BusMethod("KeepControls"),
            BusMethod("WatchControls"),
            BusMethod("UnwatchControls"),
            BusMethod("GetProfile", returns: [BusArgument("settings", "aa{sv}")]),
            BusMethod("SaveProfile", [BusArgument("names", "as")]),
            BusMethod("ForgetProfile", [BusArgument("names", "as")]),
        ],
        properties: [
            BusProperty("Description", "a{sv}")
        ],
        signals: [
            BusSignalDeclaration("ControlChanged", [BusArgument("control", "a{sv}")]),
            BusSignalDeclaration("WatchEnded", [BusArgument("code", "s"), BusArgument("message", "s")]),
        ]
    )

    /// `org.capturekit.Capture1.Library`.
    public static let library = BusInterface(
        "org.capturekit.Capture1.Library",
        methods: [
            BusMethod(
                "Fetch",
                [BusArgument("query", "a{sv}")],
                returns: [BusArgument("assets", "aa{sv}"), BusArgument("next", "s"), BusArgument("status", "u")]
            ),
            BusMethod(
                "Count",
                [BusArgument("query", "a{sv}")],
                returns: [BusArgument("count", "t"), BusArgument("status", "u")]
            ),
            BusMethod("GetAsset", [BusArgument("id", "s")], returns: [BusArgument("asset", "a{sv}")]),
            BusMethod(
                "GetAssets",
                [BusArgument("ids", "as")],
                returns: [BusArgument("assets", "aa{sv}"), BusArgument("status", "u")]
            ),
            BusMethod(
                "FindAssets",
                [BusArgument("beginnings", "as"), BusArgument("binned", "b")],
                returns: [BusArgument("ids", "as")]
            ),
            BusMethod(
                "Open",
                [BusArgument("id", "s"), BusArgument("version", "s")],
                returns: [BusArgument("content", "h")]
            ),
            BusMethod(
                "Thumbnail",
                [BusArgument("id", "s"), BusArgument("size", "s")],
                returns: [BusArgument("picture", "h")]
            ),
            BusMethod(
                "Import",
                [BusArgument("file", "s"), BusArgument("facts", "a{sv}")],
                returns: [BusArgument("request", "u")]
            ),
            BusMethod("Cancel", [BusArgument("request", "u")]),
            BusMethod(
                "Edit",
                [BusArgument("id", "s"), BusArgument("file", "s")],
                returns: [BusArgument("request", "u")]
            ),
            BusMethod("Revert", [BusArgument("id", "s")]),
            BusMethod("Change", [BusArgument("id", "s"), BusArgument("changes", "a{sv}")]),
            BusMethod("Delete", [BusArgument("ids", "as")], returns: [BusArgument("request", "u")]),
            BusMethod("EmptyBin", returns: [BusArgument("request", "u")]),
            BusMethod("Restore", [BusArgument("ids", "as")], returns: [BusArgument("count", "t")]),
            BusMethod("ListAlbums", returns: [BusArgument("albums", "aa{sv}")]),
            BusMethod("CreateAlbum", [BusArgument("name", "s")], returns: [BusArgument("id", "s")]),
            BusMethod("RenameAlbum", [BusArgument("id", "s"), BusArgument("name", "s")]),
            BusMethod("DeleteAlbum", [BusArgument("id", "s")]),
            BusMethod("AddToAlbum", [BusArgument("id", "s"), BusArgument("assets", "as")]),
            BusMethod("RemoveFromAlbum", [BusArgument("id", "s"), BusArgument("assets", "as")]),
            BusMethod(
                "MoveInAlbum",
                [BusArgument("id", "s"), BusArgument("assets", "as"), BusArgument("before", "s")]
            ),
            BusMethod("GetToken", returns: [BusArgument("token", "s")]),
            BusMethod(
                "GetChanges",
                [BusArgument("token", "s"), BusArgument("limit", "u")],
                returns: [BusArgument("changes", "a{sv}"), BusArgument("next", "s"), BusArgument("complete", "b")]
            ),
            BusMethod("ListKept", returns: [BusArgument("recordings", "aa{sv}")]),
            BusMethod("SaveKept", [BusArgument("ids", "as")], returns: [BusArgument("request", "u")]),
            BusMethod("DiscardKept", [BusArgument("ids", "as")], returns: [BusArgument("request", "u")]),
            BusMethod("Pick", [BusArgument("options", "a{sv}")], returns: [BusArgument("request", "u")]),
            BusMethod(
                "OpenPicked",
                [BusArgument("request", "u"), BusArgument("index", "u")],
                returns: [BusArgument("content", "h")]
            ),
            BusMethod("ExtendChoice", returns: [BusArgument("request", "u")]),
            BusMethod("Choose", [BusArgument("program", "s")], returns: [BusArgument("request", "u")]),
            BusMethod("Check", returns: [BusArgument("request", "u")]),
            BusMethod("Repair", returns: [BusArgument("request", "u")]),
        ],
        signals: [
            BusSignalDeclaration(
                "Finished",
                [
                    BusArgument("request", "u"), BusArgument("errorCode", "s"), BusArgument("message", "s"),
                    BusArgument("result", "a{sv}"),
                ]
            ),
            BusSignalDeclaration("Changed"),
        ]
    )

    /// `org.capturekit.Capture1.Agent`.
    public static let agent = BusInterface(
        "org.capturekit.Capture1.Agent",
        methods: [
            BusMethod("Ask", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod(
                "Describe",
                [BusArgument("program", "s"), BusArgument("unit", "s"), BusArgument("services", "as")],
                returns: [BusArgument("reasons", "a{ss}")]
            ),
            BusMethod("Confirm", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod("Pick", [BusArgument("cookie", "s"), BusArgument("request", "a{sv}")]),
            BusMethod("Cancel", [BusArgument("cookie", "s")]),
        ]
    )

    /// All of them.
    public static let all: [BusInterface] = [manager, authorization, session, device, library, agent]
}
