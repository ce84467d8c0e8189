import CaptureCore

/// How much the library keeps.
public struct LibraryLimits: Hashable, Sendable {
    /// Bytes of one content, at most.
    public var contentBytes: Int64
    /// Bytes that one program's assets may take, their edits and those in the bin included.
    public var programBytes: Int64
    /// How many assets one program may have there, those in the bin included.
    public var programAssets: Int64
    /// Bytes that all assets of the user may take.
    public var userBytes: Int64
    /// How many assets the user may have.
    public var userAssets: Int64
    /// How many recordings of one program are kept for the user to save or discard, those under way included.
    public var keptRecordings: Int64
    /// How long the bin keeps an asset, in milliseconds.
    public var binTime: Int64
    /// Bytes that imports, edits and recordings leave free on the disk, for what else the user needs it for; `nil` for
    /// 256 MiB, or a sixteenth of a smaller disk.
    public var reserve: Int64?

    /// 30 days.
    public static let usualBinTime: Int64 = 30 * 24 * 60 * 60 * 1000

    /// Limits; what is not given is generous, or none.
    public init(
        contentBytes: Int64 = 256 << 30,
        programBytes: Int64 = .max,
        programAssets: Int64 = .max,
        userBytes: Int64 = .max,
        userAssets: Int64 = .max,
        keptRecordings: Int64 = 100,
        binTime: Int64 = LibraryLimits.usualBinTime,
        reserve: Int64? = nil
    ) {
        self.contentBytes = contentBytes
        self.programBytes = programBytes
        self.programAssets = programAssets
        self.userBytes = userBytes
        self.userAssets = userAssets
        self.keptRecordings = keptRecordings
        self.binTime = binTime
        self.reserve = reserve
    }
}
