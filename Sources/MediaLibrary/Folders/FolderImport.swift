public import CaptureCore

/// What importing a folder came to.
public struct FolderImport: Hashable, Sendable {
    /// How many assets are new, or got their edit.
    public var imported = 0
    /// How many were in the library already.
    public var present = 0
    /// Files that could not be taken, by their paths in the folder, and why.
    public var failures: [Failure] = []

    /// A file that could not be taken.
    public struct Failure: Hashable, Sendable {
        /// Its path in the folder.
        public var file: String
        /// Why.
        public var error: CaptureError
    }
}
