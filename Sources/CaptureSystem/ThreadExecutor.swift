import Synchronization

/// Runs an actor's turns on a named thread of its own. Use it for an actor that waits for a disk: SQLite, fsync(2).
///
/// The turns still run one after the other. While one blocks, only the actor's other callers wait. The actor keeps the
/// executor in a property and returns it from `unownedExecutor`. Thread-safe. The thread ends with the object.
public final class ThreadExecutor: SerialExecutor {
    /// The jobs of the thread. It outlives the executor by a moment.
    private final class Queue: Sendable {
        private struct Jobs {
            /// Jobs with their executor, which the runtime uses until the job is over.
            var waiting: [(job: UnownedJob, executor: ThreadExecutor)] = []
            var isClosed = false
        }

        private let jobs = Mutex(Jobs())
        private let signal: EventSignal

        init() throws(SystemError) {
            signal = try EventSignal()
        }

        func add(_ job: UnownedJob, for executor: ThreadExecutor) {
            let isFirst = jobs.withLock { jobs in
                jobs.waiting.append((job, executor))
                return jobs.waiting.count == 1
            }
            if isFirst { signal.raise() }
        }

        func close() {
            jobs.withLock { $0.isClosed = true }
            signal.raise()
        }

        func run() {
            while true {
                // Polling an eventfd does not fail; if it does, look at the queue.
                _ = try? Poll.wait(signal.descriptor)
                signal.lower()
                while let next = take() {
                    unsafe next.job.runSynchronously(on: next.executor.asUnownedSerialExecutor())
                }
                if jobs.withLock({ $0.isClosed && $0.waiting.isEmpty }) { return }
            }
        }

        private func take() -> (job: UnownedJob, executor: ThreadExecutor)? {
            jobs.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        }
    }

    private let queue: Queue

    /// Starts the thread.
    ///
    /// - Parameter name: Shown by `ps -T`; the kernel keeps 15 bytes.
    /// - Throws: EAGAIN if the system cannot create a thread.
    public init(name: String) throws(SystemError) {
        let queue = try Queue()
        try WorkerThread.detached(name: name) { queue.run() }
        self.queue = queue
    }

    deinit { queue.close() }

    /// Lets the thread run a turn of an actor.
    public func enqueue(_ job: consuming ExecutorJob) {
        queue.add(UnownedJob(job), for: self)
    }
}
