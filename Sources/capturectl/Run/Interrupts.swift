import CLinux
import CaptureKit
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM as events, in the place of the process's end. If there are several of these objects, each gets the
/// event, also one that is made after it, so that none is lost between two of them. The last one to go gives the signals
/// back.
final class Interrupts {
    private struct State {
        var handlers: [Int: @Sendable () -> Void] = [:]
        var last = 0
        /// Whether a signal came since the first of the objects that exist was made.
        var hasCome = false
        var source: (any DispatchSourceRead)?
    }
    private static let state = Mutex(State())
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]
    /// Whether the program was started with SIGHUP ignored, as nohup does. Asked before signals are caught.
    private static let ignoresHangup = clinux_ignores(SIGHUP) != 0

    private let number: Int

    /// Calls `handler` at each of the signals, from now until this object goes.
    init(_ handler: @escaping @Sendable () -> Void) {
        let (number, hasCome) = Interrupts.state.withLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            if state.source == nil { state.source = Interrupts.begin() }
            return (state.last, state.hasCome)
        }
        self.number = number
        if hasCome { handler() }
    }

    deinit {
        Interrupts.state.withLock { state in
            state.handlers[number] = nil
            guard state.handlers.isEmpty else { return }
            for number in Interrupts.numbers where number != SIGHUP || !Interrupts.ignoresHangup {
                _ = signal(number, SIG_DFL)
            }
            if let source = state.source {
                // What nobody has heard of is not for whoever listens next.
                while clinux_caught_signal(Int32(source.handle)) > 0 {}
                source.cancel()
            }
            state.source = nil
            state.hasCome = false
        }
    }

    /// Catches the signals from here on. A signal source of libdispatch catches them some time after it was resumed, and what
    /// comes before is lost.
    ///
    /// - Returns: `nil` if the system has no descriptors left: then they end the process.
    private static func begin() -> (any DispatchSourceRead)? {
        // Whoever started this with `nohup` wants it to go on.
        let ignoresHangup = ignoresHangup
        let file = clinux_catch_termination()
        guard file >= 0 else { return nil }
        if ignoresHangup { _ = signal(SIGHUP, SIG_IGN) }
        let source = DispatchSource.makeReadSource(fileDescriptor: file)
        source.setEventHandler {
            var count = 0
            while clinux_caught_signal(file) > 0 { count += 1 }
            guard count > 0 else { return }
            let handlers = state.withLock { state in
                state.hasCome = !state.handlers.isEmpty
                return Array(state.handlers.values)
            }
            for handler in handlers { handler() }
        }
        source.setCancelHandler { close(file) }
        source.resume()
        return source
    }
}

extension Interrupts {
    /// Runs `body` in a task that Ctrl-C cancels.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let task = Task { await Result.of(body) }
        let interrupts = Interrupts { task.cancel() }
        defer { withExtendedLifetime(interrupts) {} }
        return try await task.value.get()
    }
}

/// A tick every so often.
final class Ticker {
    private let source: any DispatchSourceTimer

    init(milliseconds: Int, _ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource()
        source.setEventHandler(handler: handler)
        set(milliseconds: milliseconds)
        source.resume()
    }

    /// Ticks after `first` milliseconds from now, then each time that `milliseconds` have passed.
    func set(first: Int? = nil, milliseconds: Int) {
        source.schedule(
            deadline: .now() + .milliseconds(first ?? milliseconds),
            repeating: .milliseconds(milliseconds),
            leeway: .milliseconds(1)
        )
    }

    deinit {
        source.cancel()
    }

    /// Ends it before its last reference goes.
    func stop() {
        source.cancel()
    }
}
