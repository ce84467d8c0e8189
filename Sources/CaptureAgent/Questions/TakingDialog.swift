import CaptureCore
public import CaptureKit

/// Has a person take a photo or movie for a program, whatever shows it: a camera that is turned on, what is taken with it,
/// and what is handed over. The camera is off before the person turns it on, and after `close`. Thread-safe; one call at a
/// time.
public actor TakingDialog {
    /// Where it stands.
    public enum Stage: Hashable, Sendable {
        /// The person has not turned the camera on.
        case asked
        /// The preview shows what the camera sees.
        case viewing
        /// A movie is being recorded.
        case recording
        /// Something was taken, by the id that hands it over; and why it is not whole, if it is not.
        case taken(String, remark: String?)
        /// It is over, and why.
        case over(String)

        /// Whether the picture stands still, since something was taken.
        public var standsStill: Bool { if case .taken = self { true } else { false } }
    }

    private enum Movie {
        case recording
        /// The person ended it, and waits for its file.
        case ending(CheckedContinuation<Void, Never>?)
    }

    /// Who asks, and for what.
    public nonisolated let request: PickRequest
    private let daemon: CaptureDaemon
    private let preview: VideoDataOutput
    private let changed: @Sendable (Stage) -> Void
    private let photo = PhotoOutput()
    private var camera: String?
    private var session: CaptureSession?
    private var following: Task<Void, Never>?
    private var movie: Movie?
    /// Why the session is over, where something was taken before: that can still be handed over.
    private var end: String?
    /// Where it stands.
    public private(set) var stage = Stage.asked { didSet { if stage != oldValue { changed(stage) } } }

    /// - Parameters:
    ///   - request: Of the purpose `take`.
    ///   - daemon: Whose question it is.
    ///   - preview: Gets what the camera sees; an output that was never in a session.
    ///   - changed: Told of each new stage, also of one that came by itself; must not block.
    public init(
        _ request: PickRequest,
        on daemon: CaptureDaemon,
        preview: VideoDataOutput,
        changed: @escaping @Sendable (Stage) -> Void
    ) {
        self.request = request
        self.daemon = daemon
        self.preview = preview
        self.changed = changed
    }

    /// The cameras that there are, the first of which is used unless another one is chosen.
    public func cameras() async throws(CaptureError) -> [CaptureDevice] {
        try await CaptureDevice.devices(for: .video, on: daemon)
    }

    /// Chooses the camera to turn on.
    public func choose(_ camera: CaptureDevice.ID) { self.camera = camera.rawValue }

    /// Does what comes next: turns the camera on, takes the photo, begins the movie, or ends it. Nothing if something was
    /// taken: that is handed over by its id.
    ///
    /// - Throws: Why it cannot be; it can be tried again.
    public func advance() async throws(CaptureError) {
        switch stage {
        case .asked: try await open()
        case .viewing where request.longest > 0: try await beginMovie()
        case .viewing: try await takePhoto()
        case .recording: try await endMovie()
        case .taken, .over: return
        }
    }

    /// Forgets what was taken, for another try.
    public func again() {
        if case .taken = stage { stage = end.map { .over($0) } ?? .viewing }
    }

    /// Has the camera turned off, which the end of the question would do as well.
    public func close() async {
        following?.cancel()
        wake()
        try? await session?.stop()
    }

    private func open() async throws(CaptureError) {
        let session = self.session ?? CaptureSession(on: daemon, question: request.question.cookie)
        if self.session == nil {
            self.session = session
            try await session.addOutput(preview)
            if request.longest == 0 { try await session.addOutput(photo) }
        } else {
            // It did not start, perhaps with another camera.
            try await session.removeInput(TakingDialog.input)
        }
        try await session.addInput(.camera(camera, name: TakingDialog.input))
        try await session.startRunning()
        let events = try await session.events()
        stage = .viewing
        following = Task { [weak self] in
            for await event in events { await self?.take(event) }
        }
    }

    private static let input = "camera"
    private static let movie = "movie"

    private func take(_ event: SessionEvent) async {
        switch event {
        case .finished(let result) where result.name == TakingDialog.movie: await finish(result)
        case .changed(let status) where status.state.isFinal:
            let why = status.reason?.message ?? "the camera was turned off"
            if case .taken = stage { end = why } else { stage = .over(why) }
            wake()
        default: return
        }
    }

    private func takePhoto() async throws(CaptureError) {
        let taken = try await photo.capturePhoto(with: PhotoSettings(library: LibraryDestination()))
        guard let id = taken.saved?.asset else { throw CaptureError(.internalFault, "the photo has no id") }
        if stage == .viewing { stage = .taken(id, remark: nil) }
    }

    private func beginMovie() async throws(CaptureError) {
        guard let session else { return }
        var hasSound = request.services.contains(.microphone)
        if hasSound { hasSound = try await !CaptureDevice.devices(for: .audio, on: daemon).isEmpty }
        let output = try MovieFileOutput(
            toLibrary: LibraryDestination(),
            name: TakingDialog.movie,
            format: "mp4",
            duration: Double(request.longest)
        )
        // It may be at its end before the change is told to be done.
        movie = .recording
        do throws(CaptureError) {
            try await TakingDialog.change(session) { () throws(CaptureError) in
                if hasSound { try await session.addInput(.microphone()) }
                try await session.addOutput(output)
            }
        } catch {
            movie = nil
            throw error
        }
        if stage == .viewing { stage = .recording }
    }

    private func endMovie() async throws(CaptureError) {
        guard case .recording = movie else { return }
        movie = .ending(nil)
        do throws(CaptureError) {
            try await removeMovie()
        } catch {
            // It records on, unless it has ended meanwhile, and can be ended again.
            if case .ending = movie { movie = .recording }
            throw error
        }
        await withCheckedContinuation { waiter in
            if case .ending = movie { movie = .ending(waiter) } else { waiter.resume() }
        }
    }

    /// Takes the movie out of the session, and the microphone with it.
    private func removeMovie() async throws(CaptureError) {
        guard let session else { return }
        try await TakingDialog.change(session) { () throws(CaptureError) in
            try await session.removeOutput(TakingDialog.movie)
            for input in await session.inputs where input.mediaType == .audio {
                try await session.removeInput(input.name)
            }
        }
    }

    /// Makes changes as one, which ends also if one of them is refused.
    private static func change(
        _ session: CaptureSession,
        _ changes: () async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        await session.beginConfiguration()
        do throws(CaptureError) {
            try await changes()
        } catch {
            try? await session.commitConfiguration()
            throw error
        }
        try await session.commitConfiguration()
    }

    private func finish(_ result: OutputResult) async {
        if case .recording = movie {
            movie = .ending(nil)
            // It came to its end by itself. If that cannot be, the session is at its end, too.
            try? await removeMovie()
        }
        if case .over = stage { return }
        stage =
            result.saved?.asset.map { .taken($0, remark: result.error?.message) }
            ?? .over(result.error?.message ?? "the movie was not recorded")
        wake()
    }

    /// Lets go on who waits for the movie's end.
    private func wake() {
        if case .ending(let waiter) = movie { waiter?.resume() }
        movie = nil
    }
}
