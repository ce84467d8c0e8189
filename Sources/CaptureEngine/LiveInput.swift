import CaptureCore

/// An input whose device is open, and where its counters stood when the session joined.
struct LiveInput {
    let shared: SharedSource
    let baseline: RingCounters
    /// The ring that was there already if other sessions used the device stream before. It holds older frames, or gets
    /// one that was already on its way.
    private(set) weak var older: (any MediaRing)?
    private let copiedBefore: UInt64

    init(_ shared: SharedSource) {
        self.shared = shared
        baseline = shared.counters
        older = baseline.published > 0 ? shared.ring : nil
        copiedBefore = shared.source.copiedBytes ?? 0
    }

    var statistics: InputStatistics {
        let now = shared.counters
        var counters = InputStatistics()
        counters.device = shared.device.id.rawValue
        switch shared.source.format {
        case .video(let format): counters.format = "\(format)"
        case .audio(let format): counters.format = "\(format)"
        }
        counters.published = now.published - baseline.published
        for cause in DropCause.allCases {
            let lost = now.drops[cause.rawValue] - baseline.drops[cause.rawValue]
            if lost > 0 { counters.drops[cause.name] = lost }
        }
        counters.latency = now.latency
        counters.queueDepth = now.queueDepth
        counters.copiedBytes = shared.source.copiedBytes.map { $0 - copiedBefore }
        return counters
    }
}
