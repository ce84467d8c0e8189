import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

/// Hands the levels of a session's sounds to those who read them. Thread-safe: fed on the bus thread.
final class LevelReaders: Sendable {
    private struct State {
        /// By output, then by number.
        var readers: [String: [Int: AsyncStream<[AudioLevel]>.Continuation]] = [:]
        var last = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// A new reader of an output's levels, who keeps the newest alone.
    ///
    /// - Parameter left: Called when the reader has left, unless the session is over.
    func add(_ output: String, left: @escaping @Sendable () -> Void) -> AsyncStream<[AudioLevel]> {
        let (stream, reader) = AsyncStream<[AudioLevel]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            if state.isOver { return nil }
            state.last += 1
            state.readers[output, default: [:]][state.last] = reader
            return state.last
        }
        guard let number else {
            reader.finish()
            return stream
        }
        reader.onTermination = { [weak self] _ in
            let isOver = self?.state.withLock { state in
                state.readers[output]?[number] = nil
                return state.isOver
            }
            if isOver == false { left() }
        }
        return stream
    }

    /// Hands on what the daemon says.
    func heard(_ arguments: [BusValue]) {
        // What cannot be read is as if it had not come: the next levels follow.
        guard arguments.count == 2, let output = arguments[0].text,
            let levels = try? [AudioLevel](busValue: arguments[1])
        else { return }
        let readers = state.withLock { Array(($0.readers[output] ?? [:]).values) }
        for reader in readers { reader.yield(levels) }
    }

    /// The session is over.
    func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            state.isOver = true
            return state.readers.values.flatMap(\.values)
        }
        for reader in readers { reader.finish() }
    }
}

extension SessionHub {
    /// The levels of an output from now on.
    func levels(of output: String) async throws(CaptureError) -> AsyncStream<[AudioLevel]> {
        try await call("WatchLevels", [.string(output), .bool(true)])
        return levelReaders.add(output) { [weak self] in
            // A session that is over tells nothing any more, whether it hears of this or not.
            Task { _ = try? await self?.call("WatchLevels", [.string(output), .bool(false)]) }
        }
    }
}
