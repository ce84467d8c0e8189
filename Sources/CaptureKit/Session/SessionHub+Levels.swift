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
    /// - Parameter left: Called when the output's last reader has left.
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
            let isLast = self?.state.withLock { state in
                state.readers[output]?[number] = nil
                return state.readers[output]?.isEmpty == true && !state.isOver
            }
            if isLast == true { left() }
        }
        return stream
    }

    /// Whether somebody reads an output's levels.
    func has(_ output: String) -> Bool { state.withLock { $0.readers[output]?.isEmpty == false } }

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
        let stream = levelReaders.add(output) { [weak self] in
            Task { await self?.stopWatching(output) }
        }
        try await call("WatchLevels", [.string(output), .bool(true)])
        return stream
    }

    private func stopWatching(_ output: String) async {
        // A session that is over tells nothing any more, whether it hears of this or not.
        _ = try? await call("WatchLevels", [.string(output), .bool(false)])
        // Somebody may have begun to read meanwhile.
        if levelReaders.has(output) { _ = try? await call("WatchLevels", [.string(output), .bool(true)]) }
    }
}
