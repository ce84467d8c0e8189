import CaptureCore

/// An input whose device is open, and where its counters stood when the session joined.
struct LiveInput {
    let shared: SharedSource
    let baseline: RingCounters
    /// The ring that was there already if other sessions used the device stream before. It holds older frames, or gets
    /// one that was already on its way.
    private(set) weak var older: (any MediaRing)?
    private let joined = ContinuousClock.now
    private let copiedBefore: UInt64

    init(_ shared: SharedSource) {
        self.shared = shared
        baseline = shared.counters
        older = baseline.published > 0 ? shared.ring : nil
        copiedBefore = shared.source.copiedBytes ?? 0
    }

    /// Waits until what its device delivers next was captured after the session joined it. A device that lags behind delivers
    /// older buffers for a while. One that delivers nothing has none.
    ///
    /// - Throws: `deviceLost` if only older ones come for ten seconds.
    func outlast() async throws(CaptureError) {
        let patience = max(Duration.seconds(1), interval * 2)
        let began = ContinuousClock.now
        var (seen, since) = (shared.counters.published, began)
        while true {
            let elapsed = ContinuousClock.now - joined
            let now = shared.counters
            if Duration.nanoseconds(now.age) <= elapsed + interval / 2 || shared.ring.end != nil { return }
            if now.published != seen { (seen, since) = (now.published, .now) }
            if since.duration(to: .now) > patience { return }
            guard since - began < .seconds(10) else {
                throw CaptureError(
                    .deviceLost,
                    "\(shared.device.name) delivers only what was captured before the session began"
                )
            }
            // A cancelled task has nobody who waits for it.
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
        }
    }

    /// Whether it is the metadata of a camera's frames.
    var isMetadata: Bool { shared.device.mediaType == .metadata }

    /// Why the device stopped by itself. A camera's metadata may end without the camera.
    var deviceFailure: CaptureError? { isMetadata ? nil : shared.failure }

    var statistics: InputStatistics {
        let now = shared.counters
        var counters = InputStatistics()
        counters.device = shared.device.camera.id.rawValue
        counters.format = "\(shared.source.format)"
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
