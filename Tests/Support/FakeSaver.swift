import Authorization
public import CaptureCore
public import CaptureEngine
import ProgramIdentity
import Synchronization

/// A media library that notes what is saved into it, and saves or refuses as the test says.
public final class FakeSaver: RecordingSaver {
    private struct State {
        var log: [String] = []
        var refusal: CaptureError?
        var failure: CaptureError?
        var isHeld = false
        var room = Int64.max
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let news = AsyncStream<String>.makeStream()

    /// A library that takes everything.
    public init() {}

    /// What was done, in order.
    public var log: [String] { state.withLock { $0.log } }

    /// Refuses programs to save from now on.
    public func refuse(_ error: CaptureError) { state.withLock { $0.refusal = error } }

    /// Fails to save from now on.
    public func fail(_ error: CaptureError) { state.withLock { $0.failure = error } }

    /// Takes so many bytes of a recording from now on.
    public func limit(_ room: Int64) { state.withLock { $0.room = room } }

    /// Lets what is saved take until `release`.
    public func hold() { state.withLock { $0.isHeld = true } }

    /// Lets what is held go on.
    public func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.resume() }
    }

    /// Waits until something is done; for one waiter.
    public func wait(for text: String) async {
        for await note in news.stream where note == text { return }
    }

    private func note(_ text: String) {
        state.withLock { $0.log.append(text) }
        news.continuation.yield(text)
    }

    /// Refuses names with a slash.
    public func check(_ destination: LibraryDestination) throws(CaptureError) {
        guard !destination.name.contains("/") else { throw CaptureError(.invalidArgument, "the name contains a '/'") }
    }

    /// Notes whether the person may be asked.
    public func authorize(_ client: SessionClient, mayAsk: Bool) async throws(CaptureError) {
        note(mayAsk ? "authorize" : "authorize without asking")
        if let error = state.withLock({ $0.refusal }) { throw error }
    }

    /// Begins a recording of nothing.
    public func begin(
        _ output: OutputDescription,
        madeWith device: String,
        for client: SessionClient
    ) async throws(CaptureError) -> (file: any OpenFile, recording: any LibraryRecording) {
        let taker = client.taking.map { " for \($0.client.program)" } ?? ""
        note("begin \(output.name) of \(device)\(taker)")
        return (FakeFile(), Recording(name: output.name, saver: self))
    }

    private final class Recording: LibraryRecording {
        let name: String
        let saver: FakeSaver

        init(name: String, saver: FakeSaver) {
            self.name = name
            self.saver = saver
        }

        var room: Int64 { saver.state.withLock { $0.room } }

        func save() async throws(CaptureError) -> SavedOutput {
            saver.note("save \(name)")
            await withCheckedContinuation { continuation in
                let isHeld = saver.state.withLock { state in
                    if state.isHeld { state.held.append(continuation) }
                    return state.isHeld
                }
                if !isHeld { continuation.resume() }
            }
            if let error = saver.state.withLock({ $0.failure }) { throw error }
            return SavedOutput(asset: "asset of \(name)")
        }

        func cancel() async { saver.note("cancel \(name)") }
    }
}
