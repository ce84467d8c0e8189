/// Which events of the history to show; `nil` leaves a condition out.
public struct HistoryFilter: Hashable, Sendable {
    /// The most events of a page, which keeps an answer of the daemon below half a megabyte.
    package static let largestPage = 200

    /// A user's name or number.
    public var user: String?
    /// A program's id.
    public var program: String?
    /// A service.
    public var service: AuthorizationService?
    /// Only what ended at this time or later, or still lasts; milliseconds since 1970.
    public var since: Int64?
    /// Only what began at this time or earlier; milliseconds since 1970.
    public var until: Int64?
    /// Only what comes before the entry of this number.
    public var before: Int64?
    /// How many a page has at most.
    package var limit: Int

    /// A filter that lets everything through.
    public init() {
        self.init(limit: 100)
    }

    package init(limit: Int) {
        self.limit = limit
    }
}
