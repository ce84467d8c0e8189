import CLinux
import CaptureCore
import CaptureSystem
import Synchronization

/// Where the writer's thread gets its events: from the queue that the readers fill.
///
/// It can also read one ring by itself, if it does little with a buffer: waking another thread would take as long. A thread
/// then stands by, which reads into the queue while a write waits for a slow disk. Thread-bound to the writer's thread, but
/// for `close`.
final class PipelineFeed: Sendable {
    private let events: BlockingQueue<PipelineEvent>
    private let own: (reader: StreamReader, turn: ReadingTurn)?

    /// A feed of what readers on threads of their own put into `events`.
    init(_ events: BlockingQueue<PipelineEvent>) {
        self.events = events
        own = nil
    }

    /// A feed that reads what `reader` would, beginning with what is published from now on.
    init(_ events: BlockingQueue<PipelineEvent>, reading reader: StreamReader) throws(CaptureError) {
        self.events = events
        let turn = try CaptureError.wrap(.internalFault, try ReadingTurn(room: reader.room))
        own = (reader, turn)
        try reader.start("stand-by") {
            while turn.standBy() {
                repeat {
                    guard reader.handOn() else { return turn.endTurn() }
                } while !turn.giveBackIfRecalled()
            }
        }
    }

    /// Waits for the next event.
    ///
    /// - Returns: `nil` when the time, in nanoseconds, ran out.
    func next(within limit: Int64) -> PipelineEvent? {
        guard let own else { return events.take(within: limit) }
        let end = Timestamp.now.advanced(by: limit)
        repeat {
            // The turn before the queue: what was put into it before the turn came back is found there.
            let isOurs = own.turn.isWriters
            if let event = events.take(within: 0) { return event }
            if isOurs {
                do throws(CaptureError) {
                    if let event = try own.reader.tap.value.next() { return event }
                } catch {
                    return .failed(error)
                }
            } else {
                own.turn.recall()
                if let event = events.take(within: RingTap.look) { return event }
            }
        } while Timestamp.now < end
        return nil
    }

    /// Whether the writer's thread reads the ring.
    var isDirect: Bool { own?.turn.isWriters ?? false }

    /// How many buffers wait. Not to be asked while writing.
    var waiting: Int {
        guard let own, own.turn.isWriters else { return events.count }
        return events.count + own.reader.tap.value.pending
    }

    /// Says that what comes next may wait for a disk.
    func beginWriting() { own?.turn.beginWriting() }

    /// Says that it is over.
    func endWriting() { own?.turn.endWriting() }

    /// Ends the thread that stands by. Thread-safe.
    func close() { own?.turn.close() }
}

/// Which of two threads reads a ring: the writer's, unless a write takes it too long. Thread-safe.
private final class ReadingTurn: Sendable {
    /// How long a write may take, in nanoseconds.
    private static let limits: ClosedRange<Int64> = 20_000_000...500_000_000

    private enum Holder: Int {
        /// The writer's thread, which reads or is about to.
        case writer
        /// The writer's thread, which writes: the other one may take the turn.
        case busy
        case standby
        /// The other one, which is asked to give the turn back.
        case recalled
    }

    private let holder = Atomic(Holder.writer.rawValue)
    private let timer: Descriptor
    private let closing: EventSignal
    private let patience: Int64
    /// When the timer was armed last, in nanoseconds; 0 if it may not be armed.
    private let armed = Atomic(Int64(0))

    /// - Parameter room: Nanoseconds of buffers for which the ring has room; 0 if that is not known.
    init(room: Int64) throws(SystemError) {
        timer = Descriptor(owning: try SystemError.check("timerfd_create") { clinux_timerfd() })
        closing = try EventSignal()
        let limits = ReadingTurn.limits
        patience = room > 0 ? min(max(room / 4, limits.lowerBound), limits.upperBound) : 100_000_000
    }

    // MARK: The writer's thread

    var isWriters: Bool { holder.load(ordering: .acquiring) == Holder.writer.rawValue }

    func beginWriting() {
        guard change(.writer, to: .busy) else {
            // What the other one read is written: it keeps the turn.
            _ = change(.recalled, to: .standby)
            return
        }
        // Too early does no harm, and a timer that is seldom armed costs less.
        let now = Timestamp.now.nanoseconds
        guard now - armed.load(ordering: .relaxed) > patience / 4 else { return }
        armed.store(now, ordering: .relaxed)
        _ = clinux_timerfd_arm(timer.descriptor, now + patience)
    }

    func endWriting() { _ = change(.busy, to: .writer) }

    func recall() { _ = change(.standby, to: .recalled) }

    // MARK: The thread that stands by

    /// Waits for the turn.
    ///
    /// - Returns: Whether it came, else the end did.
    func standBy() -> Bool {
        while true {
            do throws(SystemError) {
                guard try Poll.wait(timer.descriptor, closing.descriptor).1.isEmpty else { return false }
            } catch {
                Recorder.log("a slow disk may cost frames: \(error)")
                return false
            }
            // Before the look, so that no later arming is taken back.
            _ = clinux_timerfd_arm(timer.descriptor, 0)
            // What was armed meanwhile was taken back, too.
            armed.store(0, ordering: .relaxed)
            if change(.busy, to: .standby) { return true }
        }
    }

    func giveBackIfRecalled() -> Bool { change(.recalled, to: .writer) }

    /// Gives the turn back for good: there is nothing left to read.
    func endTurn() { holder.store(Holder.writer.rawValue, ordering: .releasing) }

    // MARK: Both

    func close() { closing.raise() }

    private func change(_ from: Holder, to next: Holder) -> Bool {
        holder.compareExchange(
            expected: from.rawValue,
            desired: next.rawValue,
            ordering: .acquiringAndReleasing
        ).exchanged
    }
}
