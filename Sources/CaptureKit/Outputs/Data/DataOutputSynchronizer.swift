public import CaptureCore
import CaptureSystem
import Synchronization

/// Frames and sound that several data outputs captured at one time.
public struct SynchronizedData: Sendable {
    /// When the first output's frame was captured.
    public let time: Timestamp
    private let outputs: [ObjectIdentifier]
    private let parts: [Alignment<SynchronizedPiece>.Part]

    fileprivate init(_ set: Alignment<SynchronizedPiece>.Set, _ outputs: [ObjectIdentifier]) {
        time = Timestamp(nanoseconds: set.time)
        self.outputs = outputs
        parts = set.parts
    }

    /// A camera's frame; `nil` if it was dropped, or if the output is not one of the synchronizer's.
    public func frame(of output: VideoDataOutput) -> VideoFrame? {
        guard case .data(let pieces) = part(of: output), case .frame(let frame) = pieces.first else { return nil }
        return frame
    }

    /// A microphone's sound from this time to the next, in order; empty if it was dropped. Sound is handed over without
    /// a gap, so it may begin a little earlier or later, or with the sound of a frame that is missing: its own time
    /// tells.
    public func samples(of output: AudioDataOutput) -> [AudioSamples] {
        guard case .data(let pieces) = part(of: output) else { return [] }
        return pieces.compactMap { piece in
            if case .samples(let samples) = piece { samples } else { nil }
        }
    }

    /// Why an output has no part in this: what its handler would have been told, or `missing` or `late`; `nil` if it has
    /// a part, or is not one of the synchronizer's.
    public func drop(of output: DataOutput) -> DropReason? {
        if case .dropped(let reason) = part(of: output) { reason } else { nil }
    }

    private func part(of output: DataOutput) -> Alignment<SynchronizedPiece>.Part? {
        outputs.firstIndex(of: ObjectIdentifier(output)).map { parts[$0] }
    }
}

/// Hands over together what several cameras and microphones captured at one time, by the one clock of their times.
///
/// The first output is the master: each of its frames makes one set. The set has the nearest frame of each other
/// camera, at most half a frame of the master away, and the sound from the frame's time to that of the next. A set
/// waits for all of it, at most until a quarter of a second after the master's next frame should have come, by the times
/// of what the outputs bring. Then `SynchronizedData/drop(of:)` says why an output has no part.
///
/// Memory is bounded. The sets of a quarter of a second wait for a slow handler, at least three, and later ones are
/// dropped as `late`. Sound is kept whole for a master of at least one frame in ten seconds.
///
/// The outputs may belong to several sessions. They have no handler of their own. Their frames and sound are copied,
/// so a program can hold them: 16 frames, or 256 periods of sound, of each output.
///
/// Each output keeps the synchronizer, and with it the handler, until `DataOutput/stop()` or until the output goes. A
/// handler that uses an output keeps that one, too: stop the outputs once they are no longer needed, or capture them
/// weakly. Thread-safe.
public final class DataOutputSynchronizer: Sendable {
    /// Takes the events, one after the other. `dropped` counts the sets that the handler was too slow for, and what the
    /// outputs lost.
    public typealias Handler = @Sendable (DataOutputEvent<SynchronizedData>) -> Void

    /// Outputs get their handlers one synchronizer after the other.
    private static let claiming = Mutex(())

    private struct State: Sendable {
        var alignment: Alignment<SynchronizedPiece>
        var ready: [DataOutputEvent<SynchronizedData>] = []
        /// Sets among those.
        var sets = 0
        /// The outputs that bring something.
        var live: Set<Int> = []
        /// Whether a thread calls the handler, or waits to.
        var isHandling = false

        /// Has the handler told of a loss, together with an earlier one of its kind that it was not told of yet.
        mutating func lose(_ count: UInt64, _ reason: DropReason) {
            for index in ready.indices {
                guard case .dropped(let before, reason) = ready[index] else { continue }
                ready[index] = .dropped(before &+ count, reason)
                return
            }
            ready.append(.dropped(count, reason))
        }
    }
    private let state: Mutex<State>
    private let outputs: [ObjectIdentifier]
    private let handler: Handler
    /// Raised for the thread that calls the handler.
    private let signal: EventSignal

    /// A synchronizer. It begins when the outputs' sessions run, or at once if they do, and lives until its outputs are
    /// stopped or gone.
    ///
    /// - Parameters:
    ///   - dataOutputs: The master first. Each is without a handler, and part of no other synchronizer.
    ///   - handler: Takes what comes, on the synchronizer's own thread, so a slow one delays no output. Events that are
    ///     ready still come after the session has stopped. `ended` comes once the first output has ended, after its last
    ///     set.
    /// - Throws: `CaptureError.Code.usage` if an output has a handler already or is there twice, or the list is empty:
    ///   then all outputs are as before. `internalFault` if the system has no descriptor to give.
    public init(dataOutputs: [DataOutput], handler: @escaping Handler) throws(CaptureError) {
        guard !dataOutputs.isEmpty else { throw CaptureError(.usage, "a synchronizer needs at least one output") }
        outputs = dataOutputs.map { ObjectIdentifier($0) }
        self.handler = handler
        state = Mutex(State(alignment: Alignment(isSound: dataOutputs.map { $0.mediaTypes == [.audio] })))
        signal = try CaptureError.wrap(.internalFault, try EventSignal())
        try DataOutputSynchronizer.claiming.withLock { _ throws(CaptureError) in try claim(dataOutputs) }
        for output in dataOutputs { output.handlerCame() }
    }

    /// Gives all outputs their handlers, or none.
    private func claim(_ dataOutputs: [DataOutput]) throws(CaptureError) {
        for (index, output) in dataOutputs.enumerated() {
            if output.hasHandler {
                throw CaptureError(
                    .usage,
                    "the output '\(output.name)' has a handler already; a synchronizer takes outputs without one"
                )
            }
            if dataOutputs[..<index].contains(where: { $0 === output }) {
                throw CaptureError(.usage, "the output '\(output.name)' is there twice; name each output once")
            }
        }
        for (index, output) in dataOutputs.enumerated() {
            (output as? VideoDataOutput)?.keep { event in self.take(event.map { .frame($0) }, index) }
            (output as? AudioDataOutput)?.keep { event in self.take(event.map { .samples($0) }, index) }
        }
    }

    /// Whether the handler has been given all that is ready. For tests, whose time does not pass by itself.
    var isIdle: Bool { state.withLock { $0.ready.isEmpty } }

    /// Takes what an output brings, on that one's thread, which never waits for the handler.
    private func take(_ event: DataOutputEvent<SynchronizedPiece>, _ index: Int) {
        let (isTold, isToStart) = state.withLock { state in
            switch event {
            case .data(let piece):
                state.live.insert(index)
                let thrown = state.alignment.put(piece, index)
                if thrown > 0 { state.lose(UInt64(thrown), .late) }
            case .dropped(let count, let reason):
                state.live.insert(index)
                state.alignment.lose(reason, index)
                state.lose(count, reason)
            case .ended(let error):
                state.live.remove(index)
                state.alignment.end(index)
                collect(&state)
                if index == 0 { state.ready.append(.ended(error)) }
                if state.live.isEmpty { state.alignment.forget() }
            }
            collect(&state)
            let isTold = !state.ready.isEmpty || state.live.isEmpty
            let isToStart = !state.ready.isEmpty && !state.isHandling
            if isToStart { state.isHandling = true }
            return (isTold, isToStart)
        }
        if isTold { signal.raise() }
        guard isToStart else { return }
        do throws(SystemError) {
            try WorkerThread.detached(name: "capture-sync") { self.handle() }
        } catch {
            // What is ready waits for the next event, which tries again.
            state.withLock { $0.isHandling = false }
        }
    }

    /// Calls the handler until all outputs have ended.
    private func handle() {
        while true {
            // Polling an eventfd does not fail; if it does, look at what is ready.
            _ = try? Poll.wait(signal.descriptor)
            signal.lower()
            while let event = following() { handler(event) }
            let isOver = state.withLock { state in
                let isOver = state.ready.isEmpty && state.live.isEmpty
                if isOver { state.isHandling = false }
                return isOver
            }
            if isOver { return }
        }
    }

    /// Moves what is complete to what is ready.
    private func collect(_ state: inout State) {
        while let set = state.alignment.next() {
            if state.sets < state.alignment.mostReady {
                state.ready.append(.data(SynchronizedData(set, outputs)))
                state.sets += 1
            } else {
                state.lose(1, .late)
            }
        }
    }

    /// The next event for the thread that calls the handler.
    private func following() -> DataOutputEvent<SynchronizedData>? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            let event = state.ready.removeFirst()
            if case .data = event { state.sets -= 1 }
            return event
        }
    }
}

/// A frame or a stretch of sound in a synchronizer.
private enum SynchronizedPiece: AlignedData, Sendable {
    case frame(VideoFrame)
    case samples(AudioSamples)

    var start: Int64 {
        switch self {
        case .frame(let frame): frame.time.nanoseconds
        case .samples(let samples): samples.time.nanoseconds
        }
    }

    var length: Int64 {
        switch self {
        case .frame(let frame): frame.format.interval.nanoseconds
        case .samples(let samples): samples.duration
        }
    }

    func part(from: Int64, to: Int64) -> SynchronizedPiece? {
        guard case .samples(let samples) = self else { return nil }
        let frames = SoundPart.frames(
            of: samples.frameCount,
            at: samples.time.nanoseconds,
            rate: samples.format.sampleRate,
            from: from,
            to: to
        )
        return frames.isEmpty ? nil : .samples(samples.part(frames))
    }
}

/// Which samples lie between two times.
enum SoundPart {
    /// The sample frames of a stretch that begin from one time to before another. Two parts that meet at a time have
    /// each sample once.
    static func frames(of count: Int, at start: Int64, rate: Int, from: Int64, to: Int64) -> Range<Int> {
        func index(_ time: Int64) -> Int {
            let distance = Timestamp(nanoseconds: time) - Timestamp(nanoseconds: start)
            guard distance > 0 else { return 0 }
            // Beyond the longest stretch it makes no difference.
            return min(Int((Double(distance) * Double(rate) / 1e9).rounded(.up)), count)
        }
        let (first, last) = (index(from), index(to))
        return first..<max(first, last)
    }
}

extension DataOutputEvent {
    /// The same with other data.
    fileprivate func map<Other>(_ change: (Data) -> Other) -> DataOutputEvent<Other> {
        switch self {
        case .data(let data): .data(change(data))
        case .dropped(let count, let reason): .dropped(count, reason)
        case .ended(let error): .ended(error)
        }
    }
}
