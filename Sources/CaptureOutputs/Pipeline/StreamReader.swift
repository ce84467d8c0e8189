import CaptureCore
import CaptureRing
import CaptureSystem
import MediaConversion
import Synchronization

/// What the writer's thread hears from the readers.
enum PipelineEvent: Sendable {
    case buffer(MediaType, MediaBuffer)
    /// The stream's end, and how many buffers were lost behind the last that came.
    case ended(MediaType, lost: UInt64)
    /// The movie is to begin, with what was captured before that time.
    case begin(at: Timestamp)
    /// A picture is to be taken, of a frame that was captured after that time.
    case shoot(PictureOrder, at: Timestamp)
    case failed(CaptureError)
}

/// How a recorder reads one of its rings.
struct ReadingPlan {
    /// How many buffers may wait for the writer.
    var buffers: Int
    /// How many are wanted in all: memory for no more than that is made ready.
    var wanted = Int.max
    /// How long all buffers may be broken, in nanoseconds.
    var damageLimit = Int64.max
    /// Whether a buffer may be read a moment after it came.
    var isPatient = false
}

/// The reader of one ring: a thread that takes each buffer and hands it on to the writer's thread. Thread-safe.
final class StreamReader: Sendable {
    /// How long a patient reader sleeps, in nanoseconds: about as much of a recording is lost by a kill.
    private static let pause: Int64 = 50_000_000

    let kind: MediaType
    /// What the ring brings, for the thread that reads it.
    let tap: Unguarded<RingTap>
    /// Nanoseconds of buffers for which the ring has room.
    let room: Int64
    private let pool: BufferPool
    private let orders = RingOrders()
    private let events: BlockingQueue<PipelineEvent>
    private let isCancelled = Atomic(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// A reader of `ring`, not yet started.
    init(
        _ kind: MediaType,
        ring: RingReader,
        converter: any BufferConverter,
        plan: ReadingPlan,
        events: BlockingQueue<PipelineEvent>
    ) throws(CaptureError) {
        self.kind = kind
        self.events = events
        // A compressed frame takes a part of its buffer; raw ones and sound fill them.
        let fills: Bool
        let each: Int64
        switch ring.format {
        case .video(let video):
            fills = !video.pixelFormat.isCompressed
            each = video.interval.nanoseconds
        case .audio(let audio):
            fills = true
            each = Int64(audio.periodFrames) * 1_000_000_000 / Int64(max(audio.sampleRate, 1))
        case .metadata: throw CaptureError(.badData, "a recorder records no metadata of a camera")
        }
        room = each.multipliedReportingOverflow(by: Int64(ring.layout.slotCount)).partialValue
        pool = try BufferPool(
            count: plan.buffers,
            capacity: converter.capacity,
            ready: fills ? min(BufferPool.usual, plan.wanted) : 0
        )
        tap = Unguarded(
            RingTap(
                kind,
                ring: ring,
                converter: converter,
                pool: pool,
                orders: orders,
                pause: plan.isPatient ? min(StreamReader.pause, max(room, 0) / 8) : 0,
                damageLimit: plan.damageLimit
            )
        )
    }

    /// Starts the thread with what is published from now on: what came while encoders were tried is from before the
    /// recording.
    func start() throws(CaptureError) {
        try start("read-\(kind.rawValue)") { while self.handOn() {} }
    }

    /// Starts a thread that does `body`.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(CaptureError) {
        tap.value.beginNow()
        let started = try CaptureError.wrap(.internalFault, try WorkerThread(name: name, body: body))
        thread.withLock { $0 = started }
    }

    /// Takes the next buffer and hands it on.
    ///
    /// - Returns: Whether there may be more.
    func handOn() -> Bool {
        do throws(CaptureError) {
            guard let event = try tap.value.next() else { return !isCancelled.load(ordering: .acquiring) }
            events.put(event)
            if case .buffer = event { return true }
        } catch {
            events.put(.failed(error))
        }
        return false
    }

    /// Ends the stream with what was published until then, however late it is read; the first time counts.
    func stop(at time: Timestamp) { orders.stop(at: time) }

    /// Hands over the ring in which the stream goes on.
    func move(to file: Descriptor) { orders.moves.put(file) }

    /// Has the thread take nothing more, and end when it is done with what it waits for.
    func leave() {
        stop(at: .now)
        isCancelled.store(true, ordering: .releasing)
        pool.close()
        orders.close()
    }

    /// Waits for the end of the thread, after `leave`.
    func join() {
        thread.withLock { running in
            let last = running
            running = nil
            return last
        }?.join()
    }
}

/// A value that only one thread uses at a time, though the object that holds it is shared.
struct Unguarded<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
