import Authorization
import CaptureCore

/// A camera that runs in another size for as long as photos of it take. The session's other outputs get nothing meanwhile,
/// which is counted, and go on after that. Bound to the engine's actor.
final class StillCapture {
    /// How long photos may take.
    private static let limit = Duration.seconds(20)
    /// How much longer for each exposure of a bracket.
    private static let step = Duration.seconds(1)
    /// How long a recorder may take to give them up.
    private static let patience = Duration.seconds(10)

    private let session: Session
    private let input: InputDescription
    private let settings: PhotoSettings
    private let since = ContinuousClock.now
    /// The camera as it ran before.
    private let former: SharedSource
    /// The camera in the other size; `nil` while it is not open in that.
    private(set) var source: SharedSource?
    private var isClosed = false
    /// Whether the camera runs as before, or nobody needs it any more.
    private(set) var isOver = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    private init(_ settings: PhotoSettings, of input: InputDescription, _ former: SharedSource, in session: Session) {
        self.settings = settings
        self.input = input
        self.former = former
        self.session = session
    }

    // MARK: There

    /// The size in which a camera has to leave its format for photos; `nil` if they can be taken in that.
    static func size(for settings: PhotoSettings, _ format: VideoFormat) -> PictureSize? {
        let present = PictureSize(width: format.width, height: format.height)
        let size = settings.size ?? present
        return size != present || settings.isRaw && !format.pixelFormat.isBayer ? size : nil
    }

    /// Has a camera go on in the size of photos, and in a Bayer format for raw ones. Only while no change of its session is
    /// under way.
    ///
    /// - Returns: `nil` if it can stay as it is.
    /// - Throws: `invalidArgument` for a size that it does not have; `busy` if others use it, or another photo of the session
    ///   needs it as it is; what opening and starting throw. Then it goes on as before.
    static func begin(
        _ settings: PhotoSettings,
        of input: InputDescription,
        in session: Session,
        on engine: isolated CaptureEngine
    ) async throws(CaptureError) -> StillCapture? {
        guard let shared = session.inputs[input.name]?.shared, let format = shared.pictures,
            let size = size(for: settings, format)
        else { return nil }
        var request = input
        request.video = try self.request(size, isRaw: settings.isRaw, shared, format)
        let photo = "a \(settings.isRaw ? "raw photo" : "photo") of \(size)"
        let what = "for \(photo), \(shared.device.name) would have to change its format"
        guard session.inputs.values.filter({ $0.shared === shared }).count == 1 else {
            throw CaptureError(.busy, "\(what), and it feeds two inputs of session \(session.id)")
        }
        guard !session.outputs.contains(where: { session.isShot($0.key) && $0.value.records(shared) }) else {
            throw CaptureError(.busy, "\(what), and another photo is being taken; wait until that is done")
        }
        guard await engine.pool.hold(shared, for: session.id) else {
            throw CaptureError(.busy, "\(what), and other sessions use it; stop them first, or leave the size out")
        }
        let still = StillCapture(settings, of: input, shared, in: session)
        session.still = still
        do throws(CaptureError) {
            try session.proceed()
            try await still.go(request, on: engine)
        } catch {
            await still.goBack(on: engine)
            throw error
        }
        return still
    }

    /// The size in the pixel format that the camera has, or in the best of those that have it.
    private static func request(_ size: PictureSize, isRaw: Bool, _ shared: SharedSource, _ format: VideoFormat)
        throws(CaptureError) -> VideoFormatRequest
    {
        let formats = isRaw ? shared.device.videoFormats.raw : shared.device.videoFormats
        if isRaw, formats.isEmpty {
            throw CaptureError(
                .noSuchFormat,
                "\(shared.device.name) offers no Bayer format that a DNG can be made of; take a jpeg or png"
            )
        }
        let able = try formats.offering(size, of: shared.device.name, as: isRaw ? "in a Bayer format" : "")
        let isKept = able.contains { $0.pixelFormat == format.pixelFormat }
        return VideoFormatRequest(
            pixelFormat: isKept ? format.pixelFormat : isRaw ? able.first?.pixelFormat : nil,
            width: size.width,
            height: size.height,
            isExact: true
        )
    }

    private func go(_ request: InputDescription, on engine: isolated CaptureEngine) async throws(CaptureError) {
        let grant = try session.grant(for: request)
        try await engine.pool.restart(former, as: request, grant: grant, for: session.id)
        isClosed = true
        let source = try await engine.reopen(request, former.device, for: session)
        self.source = source
        session.before[input.name] = session.statistics.inputs[input.name]
        session.inputs[input.name] = LiveInput(source)
    }

    // MARK: And back

    /// Waits until photos have their frames, or will not get them, and has the camera go on as before.
    func end(_ shot: String, on engine: isolated CaptureEngine) async {
        if let output = session.outputs[shot], !output.needsNothing, !session.isEnding {
            let limit = Self.limit + Self.step * settings.bracket.count
            let timer = Task {
                _ = engine
                try await Task.sleep(for: limit)
                output.stop()
                try await Task.sleep(for: Self.patience)
                output.kill()
            }
            await withCheckedContinuation { output.whenFed($0) }
            timer.cancel()
        }
        await goBack(on: engine)
    }

    /// Has the camera go on as before. If it cannot, the session ends; one that ends anyway closes it.
    func goBack(on engine: isolated CaptureEngine) async {
        do throws(CaptureError) {
            if isClosed, !session.isEnding { try await comeBack(on: engine) }
        } catch {
            _ = engine.beginEnd(session, as: error.code == .deviceLost ? .interrupted : .failed, error)
        }
        await engine.pool.letGo(former.device.id)
        session.still = nil
        isOver = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func comeBack(on engine: isolated CaptureEngine) async throws(CaptureError) {
        var request = input
        // Its files have just this format.
        if let format = former.pictures { request.video = VideoFormatRequest(exactly: format) }
        let grant = try session.grant(for: request)
        if let source { try await engine.pool.restart(source, as: request, grant: grant, for: session.id) }
        let shared = try await engine.reopen(request, former.device, for: session)
        session.countPause(of: input.name, former.source.format, since: since)
        session.inputs[input.name] = LiveInput(shared)
        for output in session.outputs.values where output.reads(former) {
            output.follow(former, to: shared)
            if output.description.kind == .buffer, !session.isDisabled(output.description.name) {
                engine.observer.bufferMoved(session.snapshot, output: output.description.name)
            }
        }
    }

    /// Waits until the camera runs as before.
    func whenOver(on engine: isolated CaptureEngine) async {
        if isOver { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}

extension VideoFormatRequest {
    /// What a camera delivers, once more.
    fileprivate init(exactly format: VideoFormat) {
        let rate = format.interval.framesPerSecond
        self.init(
            pixelFormat: format.pixelFormat,
            width: format.width,
            height: format.height,
            framesPerSecond: rate > 0 ? rate : nil,
            isExact: true
        )
    }
}
