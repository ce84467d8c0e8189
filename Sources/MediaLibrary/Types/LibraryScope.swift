import CaptureCore

/// What a reader sees of the library.
public enum LibraryScope: Hashable, Sendable {
    /// Everything.
    case all
    /// What was chosen for the program of this id, and what it added itself.
    case limited(program: String)
    /// Nothing: empty answers, no error.
    case nothing
}
