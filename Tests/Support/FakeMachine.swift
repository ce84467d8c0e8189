public import Authorization
public import CaptureCore
public import CaptureEngine
import Synchronization

/// A camera or microphone without hardware: it opens, streams nothing, and can be made to go away.
public final class FakeSource: MediaSource {
    /// What it delivers.
    public let format: MediaFormat
    /// How many slots it holds while streaming.
    public let slotsInFlight = 4
    fileprivate let device: DeviceID
    private let log: FakeMachine
    private let ended = Mutex<(@Sendable (CaptureError) -> Void)?>(nil)
    private let sink = Mutex<(any MediaSink)?>(nil)
    private let lostSignal = Mutex<CaptureError?>(nil)

    /// A source that notes what is done with it.
    public init(_ device: DeviceID, _ format: MediaFormat, _ log: FakeMachine) {
        self.device = device
        self.format = format
        self.log = log
    }

    /// As the test says.
    public var interruption: CaptureError? { lostSignal.withLock { $0 } }

    func interrupt(_ error: CaptureError?) {
        lostSignal.withLock { $0 = error }
    }

    /// Notes the start; nothing is delivered.
    public func start(into sink: any MediaSink, ended: @escaping @Sendable (CaptureError) -> Void) throws(CaptureError)
    {
        log.note("start \(device)")
        self.ended.withLock { $0 = ended }
        self.sink.withLock { $0 = sink }
    }

    /// Notes the move; the readers of the sink before are told.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        log.note("move \(device)\(atOnce ? " at once" : "")")
        let former = self.sink.withLock { present in
            defer { present = sink }
            return present
        }
        former?.finish(.moved)
    }

    /// Ends as it was told to.
    public func stop() {
        ended.withLock { $0 = nil }
    }

    /// Notes the closing.
    public func close() {
        stop()
        log.note("close \(device)")
    }

    /// What readers see of an end before anybody else hears of it.
    func finishRing() {
        sink.withLock { $0 }?.finish(.deviceLost)
    }

    func unplug() {
        let handler = ended.withLock { $0 }
        handler?(CaptureError(.deviceLost, "\(device) went away"))
        finishRing()
    }
}

/// A machine with one camera and one microphone, and a log of what was done with them.
public final class FakeMachine: DeviceProvider {
    private let notes = Mutex<[String]>([])
    private let news = AsyncStream<String>.makeStream()
    private let sources = Mutex<[DeviceID: FakeSource]>([:])
    private let failure = Mutex<CaptureError?>(nil)
    private let startFailure = Mutex<CaptureError?>(nil)
    private let moveFailure = Mutex<CaptureError?>(nil)
    private let moving = Mutex<(@Sendable (DeviceID) async -> Void)?>(nil)
    private let delay = Mutex<Duration>(.zero)
    private let present = Mutex([FakeMachine.camera, FakeMachine.microphone])
    private let hook = Mutex<(@Sendable (String) async -> Void)?>(nil)
    private let look = Mutex<(@Sendable () async -> Void)?>(nil)

    /// A machine on which nothing has happened.
    public init() {}

    /// The camera.
    public static let camera = DeviceDescription(
        id: DeviceID(rawValue: "fake:camera"),
        mediaType: .video,
        name: "Fake Camera",
        aliases: ["/dev/video9"],
        driver: "fake",
        bus: "fake"
    )
    /// The microphone.
    public static let microphone = DeviceDescription(
        id: DeviceID(rawValue: "fake:microphone"),
        mediaType: .audio,
        name: "Fake Microphone",
        aliases: [],
        driver: "fake",
        bus: "fake"
    )

    /// What was done, in order.
    public var log: [String] { notes.withLock { $0 } }

    func note(_ text: String) {
        notes.withLock { $0.append(text) }
        news.continuation.yield(text)
    }

    /// Waits until something is done; for one waiter.
    public func wait(for text: String) async {
        for await note in news.stream where note == text { return }
    }

    /// Makes the next openings fail; nil lets them be.
    public func failOpening(_ error: CaptureError?) {
        failure.withLock { $0 = error }
    }

    /// Makes the next starts fail; nil lets them be.
    public func failStarting(_ error: CaptureError?) {
        startFailure.withLock { $0 = error }
    }

    /// Makes the next moves fail; nil lets them be.
    public func failMoves(_ error: CaptureError?) {
        moveFailure.withLock { $0 = error }
    }

    /// Has something done before each move, told which device it is of.
    public func beforeMoves(_ body: @escaping @Sendable (DeviceID) async -> Void) {
        moving.withLock { $0 = body }
    }

    /// Makes opening, starting and closing take as long as a driver may.
    public func dawdle(_ duration: Duration) {
        delay.withLock { $0 = duration }
    }

    private func dawdle() async {
        // Cut short by cancellation, which no driver is; nothing here is cancelled.
        try? await Task.sleep(for: delay.withLock { $0 })
    }

    /// Changes what is there; what is open stays so.
    public func plug(_ devices: [DeviceDescription]) {
        present.withLock { $0 = devices }
    }

    /// Has something done before each opening and each start of a device, told as the log will be; nil for nothing.
    public func before(_ body: (@Sendable (String) async -> Void)?) {
        hook.withLock { $0 = body }
    }

    /// Sets what to do whenever the devices are listed.
    public func whenLooked(_ body: @escaping @Sendable () async -> Void) {
        look.withLock { $0 = body }
    }

    /// The devices that are open, by the log.
    public var openDevices: [String] {
        var open: [String] = []
        for words in log.map({ $0.split(separator: " ") }) where words.count == 2 {
            if words[0] == "open" { open.append(String(words[1])) }
            if words[0] == "close" { open.removeAll { $0 == words[1] } }
        }
        return open
    }

    /// The readers of a device's ring are told that it is lost; `unplug` tells the rest.
    public func finishRing(of device: DeviceID) {
        sources.withLock { $0[device] }?.finishRing()
    }

    /// Takes the signal of a device away, or gives it back.
    public func interrupt(_ device: DeviceID, _ error: CaptureError?) {
        sources.withLock { $0[device] }?.interrupt(error)
    }

    /// Pulls a device out.
    public func unplug(_ device: DeviceID) {
        sources.withLock { $0[device] }?.unplug()
    }

    /// The camera and the microphone, unless it was changed.
    public func devices() async -> [DeviceDescription] {
        await look.withLock { $0 }?()
        return present.withLock { $0 }
    }

    /// Opens the camera, unless openings are made to fail.
    public func openCamera(_ device: DeviceDescription, _ request: VideoFormatRequest, grant: Grant)
        async throws(CaptureError) -> any MediaSource
    {
        let format = VideoFormat(
            pixelFormat: request.isExact ? request.pixelFormat ?? .yuyv : .yuyv,
            width: request.isExact ? request.width ?? 640 : 640,
            height: request.isExact ? request.height ?? 480 : 480,
            interval: FrameInterval(1, 30),
            planes: [PlaneLayout(offset: 0, stride: 1280, size: 614_400)]
        )
        return try await open(device.id, .video(format), grant)
    }

    /// Opens the microphone, unless openings are made to fail.
    public func openMicrophone(_ device: DeviceDescription, _ request: AudioFormatRequest, grant: Grant)
        async throws(CaptureError) -> any MediaSource
    {
        let format = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)
        return try await open(device.id, .audio(format), grant)
    }

    /// Opens the camera's metadata, unless openings are made to fail.
    public func openMetadata(_ camera: DeviceDescription, grant: Grant) async throws(CaptureError) -> any MediaSource {
        let format = MetadataFormat(code: .uvcHeaders, capacity: 1024)
        return try await open(DeviceID(rawValue: "\(camera.id):metadata"), .metadata(format), grant)
    }

    /// None are told.
    public func settings(of device: DeviceDescription, grant: Grant) async -> [DeviceControl] { [] }

    private func open(_ id: DeviceID, _ format: MediaFormat, _ grant: Grant) async throws(CaptureError)
        -> any MediaSource
    {
        await dawdle()
        await hook.withLock { $0 }?("open \(id)")
        guard grant.isLive else { throw CaptureError(.revoked, "the consent was withdrawn") }
        if let error = failure.withLock({ $0 }) { throw error }
        note("open \(id)")
        let source = FakeSource(id, format, self)
        sources.withLock { $0[id] = source }
        return source
    }

    /// As the protocol has it.
    public func start(
        _ source: any MediaSource,
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError) {
        await dawdle()
        await hook.withLock { $0 }?("start")
        if let error = startFailure.withLock({ $0 }) { throw error }
        try source.start(into: sink, ended: ended)
    }

    /// Moves a source, unless moves are made to fail.
    public func move(_ source: any MediaSource, to sink: any MediaSink, atOnce: Bool) async throws(CaptureError) {
        await dawdle()
        if let source = source as? FakeSource { await moving.withLock { $0 }?(source.device) }
        if let error = moveFailure.withLock({ $0 }) { throw error }
        try source.move(to: sink, atOnce: atOnce)
    }

    /// Closes a source.
    public func close(_ source: any MediaSource) async {
        await dawdle()
        source.close()
    }
}
