import CaptureKit
import CaptureSystem
import Glibc
import Synchronization

// Maps a camera's frame buffer as any client does, by a number of readers at one time, and prints what they got: one side
// of a comparison, and the readers of the test machine.
//
//     capture-bench-reader CAMERA FORMAT READERS SECONDS copy|look|newest
//     capture-bench-reader CAMERA FORMAT first TIMES
//
// FORMAT is as in YUYV:1920x1080@30. With `copy` each reader copies each frame into memory of its own, so that every
// pixel is touched; `newest` does so too, but passes over what it is too slow for; with `look` it only takes note of each
// frame. Prints `running` when each reader has had a frame, then one line of JSON: after SECONDS, or before when it is
// sent SIGTERM. Of frames from the bench's camera it also says how long after their DQBUF readers were awake: `delayP50`
// and `delayP99`, in µs.
//
// With `first` it starts the camera some times, and prints for each how many milliseconds passed between the call and the
// first frame. The line is written when the frame is there, so another program can take the time as well.

/// What a session takes.
let mostOutputs = 16

/// One reader's memory and count; its handler runs on one thread.
final class Reader: Sendable {
    let frames = Atomic<UInt64>(0)
    let torn = Atomic<UInt64>(0)
    private let copy = Mutex<[UInt8]>([])
    private let noted = Mutex(Delays())
    private let copies: Bool

    var hasBegun: Bool { frames.load(ordering: .relaxed) + torn.load(ordering: .relaxed) > 0 }
    var delays: Delays { noted.withLock { $0 } }

    init(copies: Bool) { self.copies = copies }

    func take(_ event: DataOutputEvent<VideoFrame>) {
        guard case .data(let frame) = event else { return }
        let awake = Timestamp.now
        noted.withLock { unsafe $0.note(frame.planes[0].bytes, awake: awake) }
        if copies {
            copy.withLock { own in
                let size = frame.planes.reduce(0) { unsafe $0 + $1.bytes.count }
                if own.count < size { own = [UInt8](repeating: 0, count: size) }
                var done = 0
                for plane in frame.planes {
                    let bytes = unsafe plane.bytes
                    unsafe own.withUnsafeMutableBytes {
                        unsafe UnsafeMutableRawBufferPointer(rebasing: $0[done...]).copyMemory(from: bytes)
                    }
                    done += bytes.count
                }
            }
        }
        // A frame that was overwritten meanwhile is one that this reader missed.
        if frame.isIntact { frames.add(1, ordering: .relaxed) } else { torn.add(1, ordering: .relaxed) }
    }
}

/// When a start was asked for, until its first frame comes.
final class Start: Sendable {
    private let began = Mutex<ContinuousClock.Instant?>(nil)
    let hasFrame = Atomic<Bool>(false)

    func begin() {
        hasFrame.store(false, ordering: .relaxed)
        began.withLock { $0 = .now }
    }

    func take() {
        let begun = began.withLock { began in
            defer { began = nil }
            return began
        }
        guard let begun else { return }
        print((ContinuousClock.now - begun) / .milliseconds(1))
        fflush(nil)
        hasFrame.store(true, ordering: .relaxed)
    }
}

/// Starts a camera again and again.
func measureStarts(_ arguments: [String]) async throws {
    guard arguments.count == 4, let times = Int(arguments[3]), times > 0 else {
        throw CaptureError(.usage, "usage: capture-bench-reader CAMERA FORMAT first TIMES")
    }
    let start = Start()
    for _ in 0..<times {
        let session = try await CaptureSession(on: try await CaptureDaemon.shared())
        try await session.addInput(.camera(arguments[0], request: try VideoFormatRequest(text: arguments[1])))
        let output = VideoDataOutput { event in
            if case .data = event { start.take() }
        }
        try await session.addOutput(output)
        start.begin()
        try await session.startRunning()
        while !start.hasFrame.load(ordering: .relaxed) {
            if let failure = output.failure { throw failure }
            try await Task.sleep(for: .milliseconds(1))
        }
        try await session.stopRunning()
    }
}

/// Lets the readers read, until the process is told to end.
///
/// On a thread that only sleeps, since a task that sleeps wakes three threads, which counts as the readers' work. In
/// steps, so that a process that was stopped meanwhile goes on reading when it is let go.
func read(for seconds: Double) async throws {
    try await WorkerThread.run("wait") {
        for _ in 0..<Int(seconds * 2) where !Termination.isAsked.load(ordering: .relaxed) { usleep(500_000) }
    }
}

func measure(_ arguments: [String]) async throws -> String {
    guard arguments.count == 5, let count = Int(arguments[2]), count > 0, let seconds = Double(arguments[3]),
        ["copy", "look", "newest"].contains(arguments[4])
    else {
        throw CaptureError(.usage, "usage: capture-bench-reader CAMERA FORMAT READERS SECONDS copy|look|newest")
    }
    let daemon = try await CaptureDaemon.shared()
    let newest = arguments[4] == "newest"
    let request = try VideoFormatRequest(text: arguments[1])
    var sessions: [CaptureSession] = []
    var outputs: [VideoDataOutput] = []
    var readers: [Reader] = []
    for index in 0..<count {
        if index % mostOutputs == 0 {
            let session = try await CaptureSession(on: daemon)
            try await session.addInput(.camera(arguments[0], request: request))
            sessions.append(session)
        }
        let reader = Reader(copies: arguments[4] != "look")
        let output = VideoDataOutput(name: "buffer-\(index)", alwaysDiscardsLateVideoFrames: newest) { reader.take($0) }
        try await sessions[index / mostOutputs].addOutput(output)
        readers.append(reader)
        outputs.append(output)
    }
    for session in sessions { try await session.startRunning() }
    while !Termination.isAsked.load(ordering: .relaxed), !readers.allSatisfy({ $0.hasBegun }) {
        if let failure = outputs.lazy.compactMap({ $0.failure }).first { throw failure }
        try await Task.sleep(for: .milliseconds(10))
    }
    print("running")
    fflush(nil)
    try await read(for: seconds)
    let statistics = try await sessions[0].statistics()
    let got = readers.map { $0.frames.load(ordering: .relaxed) }
    let missed = outputs.map { $0.missed }
    for session in sessions { try await session.stopRunning() }
    if let failure = outputs.lazy.compactMap({ $0.failure }).first { throw failure }
    let input = statistics.inputs["camera"] ?? InputStatistics()
    return """
        {"published": \(input.published), "elapsed": \(Double(statistics.elapsed) / 1e9), \
        "copiedBytes": \(input.copiedBytes ?? 0), "drops": \(input.drops.values.reduce(0, +)), \
        "frames": \(got.reduce(0, +)), "fewest": \(got.min() ?? 0), "most": \(got.max() ?? 0), \
        "mostMissed": \(missed.max() ?? 0), "torn": \(readers.map { $0.torn.load(ordering: .relaxed) }.max() ?? 0), \
        \(Delays.json(readers.map(\.delays)))}
        """
}

StandardDescriptors.fill()
Termination.listen()
do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.count > 2, arguments[2] == "first" {
        try await measureStarts(arguments)
    } else {
        print(try await measure(arguments))
    }
    if fflush(nil) != 0 {
        throw CaptureError(.inputOutput, "standard output cannot be written to", errno: errno)
    }
} catch let error as CaptureError {
    let text = "capture-bench-reader: \(error.message)\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
    exit(error.code.exitCode)
}
