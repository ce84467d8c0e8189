import Synchronization

/// Runs an actor's turns on a named thread of its own, for an actor that waits for a disk: SQLite, fsync(2).
///
/// The turns stay what they are, one after the other; while one blocks, the actor's other callers wait, and nobody else
/// does. An actor keeps it in a property and names it in `unownedExecutor`. Thread-safe. The thread ends with the object.
public final class ThreadExecutor: SerialExecutor {
    /// What the thread runs; it outlives the executor by a moment.
    private final class Queue: Sendable {
        private struct Jobs {
            /// With the executor, which the runtime looks at until a job is over.
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
                // An eventfd can always be polled; after a fault there is nothing to do but to look.
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
    /// - Parameter name: What `ps -T` shows; the kernel keeps 15 bytes.
    /// - Throws: When the system has no thread to give (EAGAIN).
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
