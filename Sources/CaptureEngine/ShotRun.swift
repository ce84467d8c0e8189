import CaptureCore

/// Takes photos for which the camera is set: sets it for each, and puts its settings back in the end, whatever happens. Bound to the engine's actor.
final class ShotRun {
    private enum State {
        /// A picture is waited for, once there are so many frames.
        case waiting(frames: Int, CheckedContinuation<Bool, Never>)
        case working
        /// The recorder is done, or the photos are given up.
        case ending
        /// The camera has its former settings.
        case over
    }

    /// How long a camera may take to find its exposure, of which it tells nothing: webcams need some ten frames.
    private static let adaptation = Duration.milliseconds(500)
    /// How long a picture may take to come and to be written.
    private static let limit = Duration.seconds(20)
    /// How long the end of a photo waits for a driver that does not answer.
    private static let patience = Duration.seconds(2)

    private let plan: ShotPlan
    let camera: any BorrowedCamera
    private let source: any MediaSource
    private var state = State.working
    private var frames = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Whether a driver did not answer, which nobody waits for any more.
    private var isForsaken = false
    /// How its recorder ended; that its process goes comes after that.
    private var outcome: Result<Void, CaptureError>?
    /// Why it was given up.
    private(set) var fault: CaptureError?

    init(_ plan: ShotPlan, _ camera: any BorrowedCamera, _ source: any MediaSource) {
        self.plan = plan
        self.camera = camera
        self.source = source
    }

    /// Takes all pictures, or as many as come.
    func takeAll(by output: LiveOutput, on engine: isolated CaptureEngine) async {
        do throws(CaptureError) {
            var wanted = 0
            for step in plan.steps {
                if isEnding { break }
                var controls = try await camera.set(step.changes)
                if plan.isAutomatic {
                    try? await Task.sleep(for: ShotRun.adaptation)
                    if isEnding { break }
                    controls = try await camera.controls()
                }
                if isEnding { break }
                for number in 0..<step.pictures {
                    output.recorder?.shoot(order(step, controls, passing: number == 0 ? source.slotsInFlight + 2 : 0))
                }
                wanted += step.pictures
                guard await waitForFrame(wanted, on: engine) else {
                    // The picture has not come, or its file does not take it. The recorder says what is missing.
                    if !isEnding { output.stop() }
                    break
                }
            }
        } catch {
            // The recorder is told to stop, and says that pictures are missing; this is why.
            fault = error
            output.stop()
        }
        await camera.giveBack()
        state = .over
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// V4L2 does not tell which frame is the first with a new setting. One that is captured before the setting was read
    /// back has the former one, and so may those that a driver has begun by then: as many as it holds, and two more in the
    /// sensor, which exposes the rows of one frame while it reads out those of another.
    private func order(_ step: ShotPlan.Step, _ controls: [DeviceControl], passing: Int) -> PictureOrder {
        var origin = CaptureOrigin()
        origin.note(controls)
        return PictureOrder(passing: passing, exposure: origin.exposure, bias: step.bias, isLit: plan.isLit)
    }

    // MARK: What its recorder tells

    /// So many frames are taken.
    func note(frames: UInt64) {
        self.frames = Int(clamping: frames)
        guard case .waiting(let wanted, let waiter) = state, self.frames >= wanted else { return }
        state = .working
        waiter.resume(returning: true)
    }

    /// Nothing more comes of its recorder.
    ///
    /// - Returns: What was wrong with that when this was first called.
    func end(_ error: CaptureError?) -> CaptureError? {
        switch state {
        case .waiting(_, let waiter):
            state = .ending
            waiter.resume(returning: false)
        case .working: state = .ending
        case .ending, .over: break
        }
        let first = outcome ?? error.map { .failure($0) } ?? .success(())
        outcome = first
        if case .failure(let error) = first { return error }
        return nil
    }

    /// Whether the camera has its former settings, as far as its driver answers.
    var isOver: Bool { if case .over = state { true } else { isForsaken } }

    private var isEnding: Bool { if case .ending = state { true } else { false } }

    private func waitForFrame(_ number: Int, on engine: isolated CaptureEngine) async -> Bool {
        if isEnding { return false }
        if frames >= number { return true }
        let timer = Task {
            _ = engine
            var seen: Int
            repeat {
                seen = frames
                try await Task.sleep(for: ShotRun.limit)
            } while frames > seen
            guard !Task.isCancelled, case .waiting(_, let waiter) = state else { return }
            state = .working
            waiter.resume(returning: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { state = .waiting(frames: number, $0) }
    }

    /// Waits until the camera has its former settings, or its driver does not answer.
    func whenOver(on engine: isolated CaptureEngine) async {
        if isOver { return }
        let timer = Task {
            _ = engine
            try await Task.sleep(for: ShotRun.patience)
            isForsaken = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        await withCheckedContinuation { waiters.append($0) }
        timer.cancel()
    }
}
