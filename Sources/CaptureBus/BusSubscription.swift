import Synchronization

/// Signals that are being heard, or something else that goes on, until the last reference goes or `cancel` is called.
///
/// Thread-safe. A handler that runs already is not waited for.
public final class BusSubscription: Sendable {
    private let ending: Once

    /// - Parameter end: Ends it. Called once, by whoever cancels or lets the last reference go.
    public init(_ end: @escaping @Sendable () -> Void) {
        ending = Once(end)
    }

    deinit {
        ending.run()
    }

    /// Ends the subscription. Idempotent.
    public func cancel() {
        ending.run()
    }
}

/// Something that is done once, whoever comes first.
final class Once: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = Mutex(body)
    }

    func run() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
