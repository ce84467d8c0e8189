/// Something that is wrong in the library.
public struct LibraryFault: Hashable, Sendable {
    /// `missing`, `damaged`, `orphaned` or `index`.
    public var kind = ""
    /// The id of the asset that it is about; `nil` if it is about no asset.
    public var asset: String?
    /// The file, as a path in the library's folder; empty if the fault is in the index.
    public var name = ""
    /// A description of the fault, in a sentence.
    public var message = ""
    /// The action taken about it, in a sentence; empty after a check.
    public var outcome = ""
    /// Whether it is still there after it was to be repaired.
    public var isLeft = false

    /// A fault of which nothing is known.
    public init() {}
}
