import Synchronization

/// How many may do something at one time; those that come later wait, in their order. Thread-safe.
public final class Slots: Sendable {
    private struct State {
        var free: Int
        var last: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state: Mutex<State>

    /// So many may.
    public init(_ count: Int) {
        state = Mutex(State(free: count, waiting: []))
    }

    /// Waits for its turn, which `give` ends.
    ///
    /// - Returns: Whether it has one: not when the task was cancelled before.
    public func take() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Bool? in
                    // Who is cancelled from here on is found among those that wait.
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            continuation?.resume(returning: false)
        }
    }

    /// Whether somebody waits.
    public var isAwaited: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Lets the next one have its turn.
    public func give() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}

/// As many turns for each of those that there may be, so that none of them can take the others'. Thread-safe.
public final class FairSlots<Key: Hashable & Sendable>: Sendable {
    private let count: Int
    private let slots = Mutex<[Key: (slots: Slots, users: Int)]>([:])

    /// So many of each may.
    public init(_ count: Int) {
        self.count = count
    }

    /// Waits for a turn of one of them, which `give` ends.
    ///
    /// - Returns: Whether it has one: not when the task was cancelled before.
    public func take(_ key: Key) async -> Bool {
        let own = slots.withLock { slots in
            slots[key, default: (Slots(count), 0)].users += 1
            return slots[key]?.slots
        }
        if await own?.take() == true { return true }
        forget(key)
        return false
    }

    /// Whether one of them waits.
    public func isAwaited(_ key: Key) -> Bool { slots.withLock { $0[key]?.slots }?.isAwaited == true }

    /// Lets the next one of them have its turn.
    public func give(_ key: Key) {
        slots.withLock { $0[key]?.slots }?.give()
        forget(key)
    }

    private func forget(_ key: Key) {
        slots.withLock { slots in
            slots[key]?.users -= 1
            if slots[key]?.users == 0 { slots[key] = nil }
        }
    }
}
