import CaptureCore

/// An output of a running session: a recorder at work, or a ring that its client maps. Bound to the engine's actor.
final class LiveOutput {
    private enum State {
        /// Its recorder has not begun the file; the start or change that adds it may wait for that.
        case beginning(CheckedContinuation<CaptureError?, Never>?)
        /// The start or change gave it up before its file was begun.
        case refused(CaptureError)
        /// Its recorder failed before it began the file.
        case failed(CaptureError, isGone: Bool)
        /// A buffer, or a file that its recorder writes.
        case running
        /// The library takes no more of it, and its recorder finishes.
        case full
        /// Its recorder has all that it takes of what feeds it, and finishes.
        case fed
        /// Its recorder said how the file ended, and is about to go. The library takes the file after that.
        case reported(CaptureError?)
        /// The library takes its file: nothing more comes of what feeds it.
        case saving
        /// At its end, with the reason if its file was never begun.
        case done(neverBegan: CaptureError?)
    }

    let description: OutputDescription
    /// nil for a buffer, and for photos that nobody has asked for yet.
    let recorder: (any RecorderHandle)?
    /// The files that came with its description; `nil` for a pipe.
    private let files: [FileIdentity?]
    /// How many frames a photo takes.
    private let pictures: Int
    /// The later files of a movie in segments; `nil` for any other output.
    let segments: SegmentReserve?
    /// What its files are in the media library, if they are saved there.
    let recordings: [any LibraryRecording]
    /// Sets the camera for its photos, if they ask for that.
    var run: ShotRun?
    /// Has its camera in another size for its photos, if they ask for that.
    var still: StillCapture?
    /// Tells its end when its camera has its former settings and size.
    var ending: Task<Void, Never>?
    /// The unique name of the connection that asked for it.
    let connection: String
    /// What it reads.
    private(set) var feeds: [SharedSource]
    var statistics = OutputStatistics()
    /// The rings that its recorder was handed last.
    private var given: [MediaType: any MediaRing] = [:]
    private var state: State
    /// How many markers its file was given.
    private var markers = 0
    /// How much metadata its file was given since a time.
    var metadata = (count: 0, since: ContinuousClock.now)
    /// When levels were passed on last.
    private var levelsPassed = ContinuousClock.now - .seconds(1)
    /// Wait for its end.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Wait until it needs nothing more of what feeds it.
    private var fedWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        _ description: OutputDescription,
        recorder: (any RecorderHandle)?,
        files: [FileIdentity?] = [],
        pictures: Int = 1,
        recordings: [any LibraryRecording] = [],
        for connection: String = "",
        feeds: [SharedSource]
    ) {
        self.description = description
        self.recorder = recorder
        self.files = files
        self.pictures = pictures
        segments = description.segments == nil ? nil : SegmentReserve(first: files.first ?? nil, of: description.name)
        self.recordings = recordings
        self.connection = connection
        self.feeds = feeds
        state = recorder == nil ? .running : .beginning(nil)
    }

    /// The files that its recorder writes or will write, where nobody else may.
    var written: [FileIdentity] {
        segments?.identities ?? files.compactMap(\.self)
    }

    /// Whether its file was begun; a buffer always is.
    var isReady: Bool {
        switch state {
        case .running, .full, .fed, .reported, .saving, .done(nil): true
        case .beginning, .refused, .failed, .done: false
        }
    }

    var isDone: Bool { if case .done = state { true } else { false } }

    var isSaving: Bool { if case .saving = state { true } else { false } }

    /// Whether its recorder has all that it takes, and finishes.
    var isFed: Bool { if case .fed = state { true } else { false } }

    /// Whether nothing more comes of what feeds it.
    var needsNothing: Bool {
        switch state {
        case .fed, .saving, .done: true
        case .beginning, .refused, .failed, .running, .full, .reported: false
        }
    }

    /// Whether a recorder is at work on a source.
    func records(_ source: SharedSource) -> Bool { recorder != nil && !needsNothing && reads(source) }

    func reads(_ source: SharedSource) -> Bool { feeds.contains { $0 === source } }

    // MARK: Its recorder

    /// Its recorder, unless there is nothing more to tell it.
    var working: (any RecorderHandle)? { isDone ? nil : recorder }

    /// Tells its recorder to finish the file.
    func stop() { working?.stop() }

    /// Has its recorder leave out what is captured from now on, or take it again.
    ///
    /// - Throws: `invalidArgument` for an output that is no movie and no sound; `wrongState` if its file is not being written.
    func setPaused(_ isPaused: Bool) throws(CaptureError) {
        guard description.kind == .movie || description.kind == .sound else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(description.name)' is \(description.kind.phrase); only movies and sounds can be paused"
            )
        }
        try checkRecording()
        recorder?.setPaused(isPaused)
    }

    /// Has its recorder begin a chapter.
    ///
    /// - Throws: `invalidArgument` for an output without chapters; `overQuota` after the last that there is room for;
    ///   `wrongState` if its file is not being written.
    func mark(_ marker: RecordingMarker) throws(CaptureError) {
        guard description.takesMarkers else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(description.name)' is \(description.kind.phrase) in \(description.format); "
                    + "only movies and sounds in m4a have markers"
            )
        }
        try checkRecording()
        guard markers < RecordingMarker.most else {
            throw CaptureError(
                .overQuota,
                "the output '\(description.name)' already has \(markers) markers, and its file has no room for more"
            )
        }
        markers += 1
        recorder?.mark(marker)
    }

    /// Has its recorder begin the movie, with what it kept until now. Does nothing if it is begun already.
    ///
    /// - Throws: `invalidArgument` for an output without a pre-roll; `wrongState` if its recorder does not run.
    func beginMovie(from start: Timestamp?) throws(CaptureError) {
        guard description.preRoll > 0 else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(description.name)' has no pre-roll, so it begins by itself"
            )
        }
        try checkRecording()
        statistics.isWaiting = false
        recorder?.begin(at: start.map { $0.advanced(by: description.preRoll) })
    }

    /// Has its recorder go on in the next file.
    ///
    /// - Throws: `invalidArgument` for an output without segments; `wrongState` if its file is not being written.
    func cut() throws(CaptureError) {
        try checkSegmented()
        guard !statistics.isWaiting else {
            throw CaptureError(
                .wrongState,
                "the output '\(description.name)' waits to be begun, so there is nothing to cut"
            )
        }
        recorder?.cut()
    }

    /// Hands its recorder a file for later, and waits until that has taken it.
    ///
    /// - Throws: As `cut`; `busy` if enough files wait already; why the recorder cannot write it.
    nonisolated(nonsending) func add(_ file: any OpenFile) async throws(CaptureError) {
        try checkSegmented()
        guard let recorder else { return }
        try await segments?.hand(file, to: recorder)
    }

    private func checkSegmented() throws(CaptureError) {
        guard segments != nil else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(description.name)' has no segments; a movie gets them when it is described"
            )
        }
        try checkRecording()
    }

    func checkRecording() throws(CaptureError) {
        guard case .running = state else {
            throw CaptureError(.wrongState, "the output '\(description.name)' is not recording")
        }
    }

    /// Takes levels that its recorder reports.
    ///
    /// - Returns: Whether to pass them on: no recorder has more than twice as many passed on as it should report.
    func take(_ levels: [AudioLevel]) -> Bool {
        statistics.levels = levels
        guard levelsPassed.duration(to: .now) >= .seconds(1) / (2 * AudioLevel.perSecond) else { return false }
        levelsPassed = .now
        return true
    }

    /// Ends its recorder at once, unless that is gone.
    func kill() {
        switch state {
        case .beginning, .refused, .failed(_, isGone: false), .running, .full, .fed, .reported: recorder?.kill()
        case .failed, .saving, .done: break
        }
    }

    /// Its recorder got its job with a ring of a source, which may write another ring by now.
    func launched(with ring: any MediaRing, of source: SharedSource) {
        given[source.source.format.mediaType] = ring
        go(on: source)
    }

    /// Hands its recorder the present ring of a source, unless it has that: it would be read from its start once more.
    func go(on source: SharedSource) {
        let (media, ring) = (source.source.format.mediaType, source.ring)
        if given[media] === ring { return }
        given[media] = ring
        recorder?.move(media, to: ring.handOut(isPatient: !files.contains(nil)))
    }

    /// Lets go of what keeps a device or a ring alive.
    func leaveFeeds() { feeds = [] }

    /// Goes on with a device that was closed and opened again.
    func follow(_ source: SharedSource, to next: SharedSource) {
        if isDone { return leaveFeeds() }
        feeds = feeds.map { $0 === source ? next : $0 }
        if recorder != nil, !needsNothing { go(on: next) }
    }

    // MARK: Its beginning

    /// Waits until its file is begun.
    ///
    /// - Returns: Why it will not be.
    func whenReady(_ waiter: CheckedContinuation<CaptureError?, Never>) {
        switch state {
        case .beginning: state = .beginning(waiter)
        case .refused(let error), .failed(let error, _), .done(let error?): waiter.resume(returning: error)
        case .running, .full, .fed, .reported, .saving, .done: waiter.resume(returning: nil)
        }
    }

    /// Its file is begun.
    func begin() {
        switch state {
        case .beginning(let waiter):
            state = .running
            waiter?.resume(returning: nil)
        case .refused: state = .running
        default: break
        }
    }

    /// Gives it up, unless its file was begun.
    ///
    /// - Returns: Whether it was given up.
    @discardableResult
    func refuse(_ error: CaptureError) -> Bool {
        guard case .beginning(let waiter) = state else { return false }
        state = .refused(error)
        waiter?.resume(returning: error)
        return true
    }

    // MARK: Its end

    /// Ends it if the library takes no more of it, so that no program fills the disk past its share.
    func endIfFull() {
        guard case .running = state, let recording = recordings.first,
            statistics.bytes >= UInt64(clamping: recording.room)
        else { return }
        state = .full
        recorder?.stop()
    }

    /// Its recorder told how far it is: a photo takes the frames that it was asked for. Whoever reads a pipe may take any time
    /// for that, and keeps the session.
    func feed() {
        guard case .running = state, description.kind == .photo, statistics.frames >= pictures,
            !files.contains(nil)
        else { return }
        state = .fed
        needNothing()
    }

    /// Its recorder said what became of the file that the library is to take. A complete file was begun.
    func report(_ error: CaptureError?) {
        if let error { refuse(error) } else { begin() }
        switch (state, error) {
        case (.refused(let first), _): state = .failed(first, isGone: false)
        case (.full, nil):
            state = .reported(
                CaptureError(.overQuota, "the recording was ended because the media library has no more room for it")
            )
        case (.running, _), (.full, _), (.fed, _): state = .reported(error)
        default: break
        }
    }

    /// Its recorder is gone, and the library may take its file.
    ///
    /// - Parameters:
    ///   - lost: What is wrong if the recorder had not said how the file ended.
    ///   - save: Takes the fault of the file. Not called for a file that was never begun: whoever waits for that gives it
    ///     up.
    func gone(_ lost: CaptureError, save: (CaptureError?) -> Void) {
        refuse(lost)
        switch state {
        case .refused(let error), .failed(let error, _): state = .failed(error, isGone: true)
        case .running, .full, .fed:
            state = .saving
            save(lost)
        case .reported(let error):
            state = .saving
            save(error)
        case .beginning, .saving, .done: break
        }
        needNothing()
    }

    /// It is at its end, whatever came of it: nobody waits for it any more.
    ///
    /// - Parameter error: What is wrong with it.
    func finish(_ error: CaptureError?) {
        let before = state
        switch before {
        case .beginning(let waiter):
            state = .done(neverBegan: error)
            waiter?.resume(returning: error)
        case .refused(let first), .failed(let first, _): state = .done(neverBegan: error == nil ? nil : first)
        case .running, .full, .fed, .reported, .saving: state = .done(neverBegan: nil)
        case .done: break
        }
        segments?.end()
        stopWaiting()
    }

    /// Resumes a continuation when it is at its end, or nobody is to wait for that any more.
    func whenDone(_ waiter: CheckedContinuation<Void, Never>) {
        if isDone { waiter.resume() } else { waiters.append(waiter) }
    }

    /// Resumes everyone who waits for its end.
    func stopWaiting() {
        for waiter in waiters { waiter.resume() }
        waiters = []
        needNothing()
    }

    /// Resumes a continuation when nothing more comes of what feeds it, or nobody is to wait for that any more.
    func whenFed(_ waiter: CheckedContinuation<Void, Never>) {
        if needsNothing { waiter.resume() } else { fedWaiters.append(waiter) }
    }

    /// Nothing more comes of what feeds it.
    func needNothing() {
        for waiter in fedWaiters { waiter.resume() }
        fedWaiters = []
    }
}
