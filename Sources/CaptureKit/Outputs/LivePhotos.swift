public import CaptureCore
import CaptureMessages
import CaptureSystem
import Glibc

/// A photo with a movie of the seconds around it.
public struct LivePhoto: Sendable {
    /// The photo, a JPEG in its `bytes`.
    public let photo: CapturedPhoto
    /// The movie, an MP4, with sound if the session has a microphone.
    public let movie: [UInt8]
    /// When in the movie the photo was captured.
    public let stillTime: Duration
    /// How many pictures the movie has.
    public let frames: UInt64
    /// How many it lacks because the machine could not encode them in time.
    public let missedFrames: UInt64

    /// Both in one file, as `MotionPhoto` says: a JPEG that has the movie behind its end.
    ///
    /// - Throws: `CaptureError.Code.badData` for a photo of the camera's own that is no JPEG, or has no room for more facts.
    public var file: [UInt8] {
        get throws(CaptureError) { try MotionPhoto.join(photo.bytes, movie, still: stillTime) }
    }
}

/// Photos with the seconds around them, again and again while a session runs.
///
/// Between photos a recorder keeps the newest pictures in memory, encoded, and the sound if the session has a microphone. It
/// is an output of the session as others are: the devices count as in use, and nothing is kept once the consent ends.
///
///     let live = try await LivePhotos(session)
///     try await session.startRunning()
///     try await live.whenReady()
///     let photo = try await live.capture()
public actor LivePhotos {
    /// Bytes that a movie may have.
    private static let mostBytes: Int64 = 64 << 20

    /// A movie that waits to be begun.
    private struct Waiting {
        let output: String
        let memory: MemoryFile
    }

    private let session: CaptureSession
    private let name: String
    private let before: Duration
    private let after: Duration
    private var number = 0

    private enum Next {
        /// None waits, which the next call mends.
        case missing
        /// It is being added; whoever needs it waits for that.
        case coming(Task<CaptureError?, Never>)
        case waiting(Waiting)
        /// The photo of the last one is being taken.
        case taken
    }
    private var next = Next.missing

    /// Adds the output that keeps pictures to a session, which has a camera.
    ///
    /// - Parameters:
    ///   - session: Runs already, or is started later.
    ///   - name: The beginning of its outputs' names.
    ///   - before: How much the movie has of the time before the photo, more than 0 and at most 10 s.
    ///   - after: How much of the time after it, in the same range.
    /// - Throws: `usage` for a time out of range; as `CaptureSession.addOutput`.
    public init(
        _ session: CaptureSession,
        name: String = "live",
        before: Duration = .milliseconds(1500),
        after: Duration = .milliseconds(1500)
    ) async throws(CaptureError) {
        for time in [before, after] where time <= .zero || time > .seconds(10) {
            throw CaptureError(.usage, "\(time) around a live photo is out of range: more than 0, at most 10 s")
        }
        self.session = session
        self.name = name
        self.before = before
        self.after = after
        // The session goes on when a movie is complete.
        try await session.addOutput(PhotoOutput(name: name))
        try await renew()
    }

    /// Waits until as much is kept as a movie is to have of the time before its photo, or as the recorder's memory holds.
    ///
    /// - Throws: Why the session ended, or the recorder was lost; `wrongState` before it is started.
    public func whenReady() async throws(CaptureError) {
        while true {
            guard let hub = await session.made(), !hub.status.state.isFinal else { throw await ending() }
            try await prepare()
            if case .waiting(let movie) = next {
                try await check(movie, hub)
                let kept = try await session.statistics().outputs[movie.output]
                if let kept, kept.duration >= before.nanoseconds || kept.preRollIsFull { return }
            }
            do {
                try await Task.sleep(for: .milliseconds(50))
            } catch {
                throw CaptureError(.dismissed, "cancelled before enough pictures were kept")
            }
        }
    }

    /// Takes a photo, and returns when its movie is complete. The next one can be taken meanwhile; its movie has what is kept
    /// from now on.
    ///
    /// - Parameter quality: Of the JPEG, 1 to 100.
    /// - Throws: As `PhotoOutput.capturePhoto`.
    public func capture(quality: Int = 90) async throws(CaptureError) -> LivePhoto {
        guard let hub = await session.made(), !hub.status.state.isFinal else { throw await ending() }
        try await prepare()
        guard case .waiting(let movie) = next else {
            throw CaptureError(.busy, "the live photo before is just being taken")
        }
        try await check(movie, hub)
        guard case .waiting(let now) = next, now.output == movie.output else {
            throw CaptureError(.busy, "the live photo before is just being taken")
        }
        next = .taken
        let events = hub.events()
        let photo: CapturedPhoto
        do throws(CaptureError) {
            let taken = try await session.capturePhotos(of: name, with: PhotoSettings(quality: quality)).first
            guard let taken else { throw CaptureDaemon.malformed("CapturePhoto") }
            photo = taken
        } catch {
            next = .waiting(movie)
            throw error
        }
        do throws(CaptureError) {
            return try await complete(photo, movie, events)
        } catch {
            if case .taken = next { next = .missing }
            // A session has room for 16 outputs. If this one cannot be removed, the session has ended anyway.
            _ = try? await session.removeOutput(movie.output)
            throw error
        }
    }

    /// Begins the movie of a photo and waits until it is complete.
    private func complete(_ photo: CapturedPhoto, _ movie: Waiting, _ events: AsyncStream<SessionEvent>)
        async throws(CaptureError) -> LivePhoto
    {
        do throws(CaptureError) {
            let start = Timestamp.ofWallTime(photo.time).advanced(by: -before.nanoseconds)
            try await session.beginRecording(movie.output, from: start)
            try await renew()
        } catch {
            // Of a movie that has ended, the events tell why.
            guard error.code == .wrongState else { throw error }
        }
        for await event in events {
            switch event {
            case .finished(let result) where result.name == movie.output:
                guard let error = result.error else { return try await self.photo(photo, result, movie) }
                // It was never begun, because the session ends, which says why.
                guard error.code == .wrongState else { throw error }
            case .changed(let status) where status.state.isFinal: throw CaptureSession.failure(status)
            default: continue
            }
        }
        throw CaptureError(.dismissed, "cancelled before the live photo was complete")
    }

    private func photo(_ photo: CapturedPhoto, _ result: OutputResult, _ movie: Waiting) async throws(CaptureError)
        -> LivePhoto
    {
        do throws(CaptureError) {
            try await session.removeOutput(movie.output)
        } catch {
            // What is complete is handed over although its session has ended meanwhile.
            guard error.code == .wrongState else { throw error }
        }
        let still = min(max(photo.time - result.statistics.start, 0), max(result.statistics.duration, 0))
        return LivePhoto(
            photo: photo,
            movie: try CaptureError.wrap(.inputOutput, try movie.memory.contents()),
            stillTime: .nanoseconds(still),
            frames: result.statistics.frames,
            missedFrames: result.statistics.missedFrames
        )
    }

    /// Refuses a movie that has ended, because its recorder was lost: the next photo has another one.
    private func check(_ movie: Waiting, _ hub: SessionHub) async throws(CaptureError) {
        guard let ended = await session.results.first(where: { $0.name == movie.output }) else { return }
        let error = ended.error ?? CaptureError(.recorderLost, "the movie of the live photo ended before the photo")
        // It was never begun, because the session ends, which says why.
        if error.code == .wrongState { throw CaptureSession.failure(await hub.ended()) }
        guard lose(movie) else { return }
        try await session.removeOutput(movie.output)
        throw error
    }

    /// Lets go of a movie, if it is the one that waits.
    private func lose(_ movie: Waiting) -> Bool {
        guard case .waiting(let now) = next, now.output == movie.output else { return false }
        next = .missing
        return true
    }

    /// Has a movie wait if none does: the session was started anew since, or the last one failed.
    private func prepare() async throws(CaptureError) {
        while true {
            switch next {
            case .taken: return
            case .coming(let task): if let error = await task.value { throw error }
            case .missing: return try await renew()
            case .waiting(let movie):
                if await session.outputs.contains(where: { $0.name == movie.output }) { return }
                _ = lose(movie)
            }
        }
    }

    /// Has the next movie wait.
    private func renew() async throws(CaptureError) {
        let task = Task { () -> CaptureError? in
            do throws(CaptureError) {
                next = .waiting(try await added())
                return nil
            } catch {
                next = .missing
                return error
            }
        }
        next = .coming(task)
        if let error = await task.value { throw error }
    }

    /// Adds a movie that waits to the session.
    private func added() async throws(CaptureError) -> Waiting {
        number += 1
        let memory = try CaptureError.wrap(.inputOutput, try MemoryFile("live-photo"))
        let movie = Waiting(output: "\(name)-\(number)", memory: memory)
        try await session.addOutput(
            MovieFileOutput(
                file: memory.descriptor,
                name: movie.output,
                format: "mp4",
                duration: (before + after) / .seconds(1),
                maxFileSize: Self.mostBytes,
                // A photo takes some time. A pre-roll is shorter than its movie.
                preRoll: before + after * 0.9
            )
        )
        return movie
    }

    private func ending() async -> CaptureError {
        await session.made()?.status.reason
            ?? CaptureError(.wrongState, "the session does not run; start it, then take live photos")
    }
}

extension Timestamp {
    /// A moment by the clock on the wall, in nanoseconds since 1970.
    fileprivate static func ofWallTime(_ time: Int64) -> Timestamp {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let (mono, wall) = (Timestamp.now, Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
        return mono.advanced(by: time - wall)
    }
}
