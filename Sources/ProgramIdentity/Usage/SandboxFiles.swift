/// A file of a sandboxed application's own.
public enum SandboxFile: Hashable, Sendable {
    /// There is none.
    case absent
    /// Its text, and where it lies, for a person.
    case text(String, place: String)
    /// It is there and cannot be used; why, in words.
    case unusable(String)
}

/// Reads files of sandboxed applications, which lie on roots of their own. Thread-safe.
public protocol SandboxFiles: Sendable {
    /// Reads a file of an application.
    ///
    /// - Parameters:
    ///   - path: Below the folder of the application's files, `/app` in a Flatpak.
    ///   - client: The application, as it was identified.
    func read(_ path: String, of client: ClientIdentity) -> SandboxFile
}
