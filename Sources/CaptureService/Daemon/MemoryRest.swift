import CLinux
import Synchronization

/// Gives memory back to the system when the daemon comes to rest: after its start, and when a program or the last stream
/// is gone. Memory used by a start, a call or a stream is not needed until the next one.
///
/// Thread-safe. It plans nothing and wakes nothing while the daemon is idle.
final class MemoryRest: Sendable {
    /// How long to wait for what usually follows.
    private static let delay = Duration.seconds(5)

    private let isPlanned = Atomic(false)
    private let isStreaming = Atomic(false)

    /// Notes that a device is about to stream: its thread keeps what it has.
    func streams() { isStreaming.store(true, ordering: .relaxed) }

    /// Notes that no device streams any more.
    func streamsNoMore() {
        isStreaming.store(false, ordering: .relaxed)
        plan()
    }

    /// Notes that something is over.
    func plan() {
        guard !isPlanned.exchange(true, ordering: .relaxed) else { return }
        Task {
            try? await Task.sleep(for: MemoryRest.delay)
            isPlanned.store(false, ordering: .relaxed)
            guard !isStreaming.load(ordering: .relaxed) else { return }
            clinux_trim_memory()
            clinux_unmap_code()
        }
    }
}
