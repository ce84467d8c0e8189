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
        source.schedule(deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        source.setEventHandler(handler: handler)
        source.resume()
    }

    deinit {
        source.cancel()
    }

    /// Ends it before its last reference goes.
    func stop() {
        source.cancel()
    }
}
