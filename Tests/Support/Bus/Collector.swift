/// Collects what handlers are told, to be awaited.
public final class Collector<Element: Sendable>: Sendable {
    /// What was added, in order.
    public let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    /// A collector with nothing in it.
    public init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Adds what a handler was told.
    public func add(_ element: Element) { continuation.yield(element) }

    /// The next `count` elements.
    public func next(_ count: Int = 1) async -> [Element] {
        var found: [Element] = []
        for await element in stream {
            found.append(element)
            if found.count == count { break }
        }
        return found
    }
}
