extension CaptureInterfaces {
    /// The media library of the caller's user.
    public static let library = BusInterface(
        CaptureNames.library,
        methods: [
            BusMethod("GetStatus", [BusArgument("level", "s")], returns: [BusArgument("status", "u")]),
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
}
