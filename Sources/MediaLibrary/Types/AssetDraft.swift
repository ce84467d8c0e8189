public import CaptureCore

/// What a program says of something that it adds.
public struct AssetDraft: Hashable, Sendable {
    /// Its file name; see `LibraryName` for what that may be. An empty one becomes one that says what it is and when it
    /// was made.
    public var name: String
    /// When it was made, in milliseconds since 1970; `nil` for what the file says itself.
    public var created: Int64?
    /// The device that it was made with, at most 255 bytes; empty for none.
    public var device: String
    /// Where it was made.
    public var place: MediaPlace?
    /// Whether it is marked at once.
    public var isFavourite: Bool
    /// The id of the album that it is meant for. It is kept with a recording under way and given back with it; joining
    /// the album is a call of its own.
    public var album: String?
    /// The name of the album that it is meant for, which is made where there is none; kept and given back as `album` is.
    public var albumName: String?

    /// Something to be added.
    public init(
        name: String = "",
        created: Int64? = nil,
        device: String = "",
        place: MediaPlace? = nil,
        isFavourite: Bool = false,
        album: String? = nil,
        albumName: String? = nil
    ) {
        self.name = name
        self.created = created
        self.device = device
        self.place = place
        self.isFavourite = isFavourite
        self.album = album
        self.albumName = albumName
    }

    /// Refuses what may not be stored.
    ///
    /// - Throws: `invalidArgument` that says what would be right.
    public func check() throws(CaptureError) {
        if !name.isEmpty { try LibraryName.check(name, of: "a file") }
        if !device.isEmpty { try LibraryName.checkText(device, "the device's name") }
        if let created { try AssetDraft.checkTime(created) }
        _ = try place?.checked()
        if let album { try LibraryID.check(album, of: "an album") }
        if let albumName { try LibraryName.check(albumName, of: "an album") }
    }

    /// From the year 0 to 9999, so that every reader of a date can say it.
    static func checkTime(_ time: Int64) throws(CaptureError) {
        guard (-62_167_219_200_000...253_402_300_799_999).contains(time) else {
            throw CaptureError(
                .invalidArgument,
                "the date \(time) is not in milliseconds since 1970 between the years 0 and 9999"
            )
        }
    }
}
