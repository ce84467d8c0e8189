import CaptureCore

/// Something in a library that does not agree.
public struct FoundFault: Hashable, Sendable {
    /// What kind of fault it is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The index has a content whose file is not there.
        case missing
        /// A file is not what it was: its hash is another.
        case damaged
        /// A file is there that the index does not have.
        case orphaned
        /// The index contradicts itself.
        case index
    }

    /// What kind of fault it is.
    public var kind: Kind
    /// The file, as a path in the library's folder; empty where it is about the index.
    public var file: String
    /// The ids of the assets that have it, those in the bin included.
    public var assets: [String]
    /// What is wrong, in a sentence.
    public var message: String
    /// What was done about it, in a sentence; empty after a check.
    public var outcome: String
    /// Whether it is still there after it was to be repaired.
    public var isLeft = false

    /// The outcome of what was found to be as it should be when it was to be mended.
    static let isMendedMeanwhile = "it was repaired meanwhile"

    /// The outcome of what was not there any more.
    static let isGone = "it went away by itself"

    init(_ kind: Kind, file: String = "", assets: [String] = [], _ message: String) {
        self.kind = kind
        self.file = file
        self.assets = assets
        self.message = message
        outcome = ""
    }
}
