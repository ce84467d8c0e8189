import CaptureBus
public import CaptureCore
import CaptureMessages

/// The daemon's record of every use (program, device, time and duration) and of every decision.
///
/// Thread-safe.
public struct CaptureHistory: Sendable {
    private let daemon: CaptureDaemon

    /// The history of a daemon.
    public init(of daemon: CaptureDaemon) {
        self.daemon = daemon
    }

    /// The events that the caller may see, the latest first: a user's own, to root everybody's.
    ///
    /// - Parameter filter: Which; all pages of it.
    /// - Throws: `notPermitted` when another user's are asked for, `inputOutput` when the history cannot be read.
    public func events(_ filter: HistoryFilter = HistoryFilter()) async throws(CaptureError) -> [HistoryEvent] {
        var filter = filter
        filter.limit = HistoryFilter.largestPage
        var events: [HistoryEvent] = []
        while true {
            let answer = try await daemon.consult("GetHistory", [filter.busValue])
            guard answer.count == 2, let next = answer[1].unsigned else { throw CaptureDaemon.malformed("GetHistory") }
            events += try CaptureDaemon.records(answer[0], "GetHistory")
            if next == 0 { return events }
            // Each page begins before the last one's end, or this would never end.
            guard next < events.last.map({ $0.id + 1 }) ?? 0 else { throw CaptureDaemon.malformed("GetHistory") }
            filter.before = Int64(clamping: next)
        }
    }
}
