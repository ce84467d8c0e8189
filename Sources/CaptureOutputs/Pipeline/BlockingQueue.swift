import Glibc

/// Elements handed from thread to thread, in order.
///
/// Thread-safe. It has no bound of its own: what goes round in it comes from a pool, whose size is the bound.
@safe
final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var elements: [Element?] = []
    private var first = 0
    private var isClosed = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(arrival, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(arrival)
        unsafe pthread_mutex_destroy(mutex)
        unsafe arrival.deallocate()
        unsafe mutex.deallocate()
    }

    /// How many wait to be taken.
    var count: Int {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return elements.count - first
    }

    /// Adds one at the end.
    func put(_ element: Element) {
        unsafe pthread_mutex_lock(mutex)
        elements.append(element)
        unsafe pthread_cond_signal(arrival)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Takes one, waiting for it.
    ///
    /// - Parameters:
    ///   - limit: Nanoseconds to wait; 0 only looks, negative for no limit.
    ///   - newest: Takes the one that was put last in place of the first.
    /// - Returns: `nil` when the time ran out, or the queue is closed.
    func take(within limit: Int64 = -1, newest: Bool = false) -> Element? {
        var end = timespec()
        if limit > 0 {
            unsafe clock_gettime(CLOCK_MONOTONIC, &end)
            let nanoseconds = Int64(end.tv_nsec) + limit
            end.tv_sec += Int(nanoseconds / 1_000_000_000)
            end.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isClosed {
            if first < elements.count {
                if newest { return elements.removeLast() }
                let element = elements[first]
                elements[first] = nil
                first += 1
                if first == elements.count {
                    elements.removeAll(keepingCapacity: true)
                    first = 0
                } else if first > 64 {
                    elements.removeSubrange(..<first)
                    first = 0
                }
                return element
            }
            if limit == 0 { return nil }
            if limit < 0 {
                unsafe pthread_cond_wait(arrival, mutex)
            } else if unsafe pthread_cond_timedwait(arrival, mutex, &end) == ETIMEDOUT, first >= elements.count {
                return nil
            }
        }
        return nil
    }

    /// Those that were put first, and stay.
    func first(_ count: Int) -> [Element] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return elements[first...].prefix(count).compactMap { $0 }
    }

    /// Takes all at once, closed or not.
    func drain() -> [Element] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        defer {
            elements.removeAll()
            first = 0
        }
        return elements.compactMap { $0 }
    }

    /// Makes every `take`, waiting or to come, return `nil`.
    func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_cond_broadcast(arrival)
        unsafe pthread_mutex_unlock(mutex)
    }
}
