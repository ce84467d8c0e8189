import Dispatch
import Glibc

/// Ctrl-C and SIGTERM as events, in the place of the process's end.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` at each of the signals, from now until this object goes.
    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler(handler: handler)
            source.resume()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM, SIGHUP] { _ = signal(number, SIG_DFL) }
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
