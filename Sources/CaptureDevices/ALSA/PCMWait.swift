import CALSA
import CaptureSystem
import Glibc

/// Waits for a stream's next period or for an order: poll(2) on descriptors that are asked for once.
///
/// Thread-bound; a wait allocates nothing.
struct PCMWait {
    enum Outcome {
        case ready
        /// The stream may have stopped by itself.
        case troubled
        case ordered
        case nothing
    }

    private let pcm: PCM
    private var descriptors: [pollfd]

    init(_ pcm: PCM, _ orders: Int32) throws(ALSAFailure) {
        self.pcm = pcm
        let count = try unsafe pcm.check("descriptors") { unsafe snd_pcm_poll_descriptors_count($0) }
        descriptors = [pollfd](repeating: pollfd(), count: Int(count) + 1)
        unsafe try pcm.check("descriptors") { unsafe snd_pcm_poll_descriptors($0, &descriptors, UInt32(count)) }
        descriptors[Int(count)] = pollfd(fd: orders, events: Int16(POLLIN), revents: 0)
    }

    /// Waits until there is something to read or to hear about.
    mutating func next(timeout: Int32) throws(ALSAFailure) -> Outcome {
        let last = descriptors.count - 1
        while true {
            let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), timeout)
            if ready < 0 {
                if errno == EINTR { continue }
                throw ALSAFailure("wait for \(pcm.name)", -errno)
            }
            if descriptors[last].revents != 0 { return .ordered }
            if ready == 0 { return .nothing }
            var events: UInt16 = 0
            let answer = unsafe snd_pcm_poll_descriptors_revents(pcm.handle, &descriptors, UInt32(last), &events)
            if answer < 0 { throw ALSAFailure("wait for \(pcm.name)", answer) }
            if events & UInt16(POLLERR | POLLNVAL | POLLHUP) != 0 { return .troubled }
            if events != 0 { return .ready }
        }
    }
}
