public import CaptureCore

/// A stored answer, and what it comes to.
public struct ListedAnswer: Hashable, Sendable {
    /// As it is stored.
    public var answer: StoredAnswer
    /// As it counts: by policy, and for adding to the library by what was said about reading it.
    public var status: AuthorizationStatus
    /// The service whose answer counts in its place; its own, unless adding follows from reading.
    public var source: Service
    /// What policy says about its service.
    public var verdict: PolicyVerdict
    /// When it ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    public var ends: Int64?
}
