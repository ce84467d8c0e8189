import BusSupport
import CaptureCore
import CaptureKit
import CaptureSystem
import Glibc
import Synchronization
import Testing

/// Photos of another size than a session of a real daemon has.
@Suite(.timeLimit(.minutes(10)))
struct `The size of a photo` {
    private static let large = PhotoSettings(size: PictureSize(width: 1920, height: 1080))

    /// The sizes of frames that came, and how many came.
    private final class Seen: Sendable {
        private let sizes = Mutex<Set<String>>([])
        let count = Atomic(0)

        var all: Set<String> { sizes.withLock { $0 } }

        func note(_ frame: borrowing VideoFrame) {
            let size = "\(frame.format.width)x\(frame.format.height)"
            sizes.withLock { _ = $0.insert(size) }
            count.add(1, ordering: .relaxed)
        }

        func goesOn() async throws {
            let before = count.load(ordering: .relaxed)
            while count.load(ordering: .relaxed) < before + 3 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// The size that a JPEG says it has.
    private func size(_ jpeg: [UInt8]) -> String {
        var place = 2
        while place + 9 < jpeg.count, jpeg[place] == 0xff {
            if (0xc0...0xc2).contains(jpeg[place + 1]) {
                func number(_ offset: Int) -> Int { Int(jpeg[place + offset]) << 8 + Int(jpeg[place + offset + 1]) }
                return "\(number(7))x\(number(5))"
            }
            place += 2 + Int(jpeg[place + 2]) << 8 + Int(jpeg[place + 3])
        }
        return "none"
    }

    @Test func `is another than that of the movie, which goes on`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let seen = Seen()
        func begin() async throws -> (CaptureSession, PhotoOutput) {
            let movie = try OutputFile.scratch()
            let output = PhotoOutput()
            let frames = VideoDataOutput { event in
                if case .data(let frame) = event { seen.note(frame) }
            }
            let file = try MovieFileOutput(file: movie.descriptor)
            let session = try await SessionLifeTests.session(daemon, output, frames, file)
            try await session.startRunning()
            try await SessionLifeTests.recorded("movie", in: session)
            try await seen.goesOn()
            return (session, output)
        }
        func paused(_ session: CaptureSession) async throws -> UInt64? {
            try await session.statistics().inputs["camera"]?.drops["paused"]
        }
        var (session, output) = try await begin()
        // On a machine that is held up, the camera pauses by itself.
        for _ in 1..<20 where try await paused(session) != nil {
            try await session.stopRunning()
            (session, output) = try await begin()
        }
        #expect(try await paused(session) == nil)
        let first = try await output.capturePhoto(with: Self.large)
        #expect(size(first.bytes) == "1920x1080")
        let between = try #require(try await session.statistics().inputs["camera"])
        let lost = try #require(between.drops["paused"])
        #expect(between.format.contains("320x240"))
        try await seen.goesOn()
        // A burst, and then one of the session's own size, which costs nothing.
        var burst = Self.large
        (burst.burst, burst.size) = (3, PictureSize(width: 1280, height: 720))
        let three = try await output.capturePhotos(with: burst).map { size($0.bytes) }
        #expect(three == [String](repeating: "1280x720", count: 3))
        var more = try #require(try await paused(session))
        #expect(more > lost)
        var costs = true
        for _ in 0..<20 where costs {
            let before = more
            #expect(size(try await output.capturePhoto().bytes) == "320x240")
            more = try #require(try await paused(session))
            costs = more != before
        }
        #expect(!costs)
        try await seen.goesOn()
        #expect(seen.all == ["320x240"])
        let before = try #require(try await session.statistics().outputs["movie"]?.frames)
        try await until { try await session.statistics().outputs["movie"]?.frames ?? 0 > before }
        try await session.stopRunning()
        #expect(await session.results.map(\.error) == [nil])
    }

    @Test func `is refused if the camera lacks it, or others use the camera`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(daemon, output)
        try await session.startRunning()
        func refusal(_ width: Int, _ height: Int) async -> CaptureError? {
            let settings = PhotoSettings(size: PictureSize(width: width, height: height))
            return await #expect(throws: CaptureError.self) { try await output.capturePhoto(with: settings) }
        }
        let lacking = await refusal(1000, 1000)
        #expect(lacking?.code == .invalidArgument && lacking?.message.contains("the nearest: 1280x720") == true)
        for size in [(0, 1080), (-1, 1), (1 << 31, 1080), (1920, Int.max)] {
            #expect(await refusal(size.0, size.1)?.code == .usage)
        }
        let other = try await SessionLifeTests.session(daemon, FrameBufferOutput())
        try await other.startRunning()
        let shared = await refusal(1920, 1080)
        #expect(shared?.code == .busy && shared?.message.contains("other sessions use it") == true)
        try await other.stopRunning()
        #expect(size(try await output.capturePhoto(with: Self.large).bytes) == "1920x1080")
        try await session.stopRunning()
    }

    @Test func `is that of each of several, one after the other, and a stop does not wait for them`() async throws {
        let captured = try await RealDaemon()
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(try await captured.client(), output)
        try await session.startRunning()
        let wanted = [(1920, 1080), (640, 480), (1280, 720)].map { PictureSize(width: $0.0, height: $0.1) }
        let found = try await withThrowingTaskGroup { group in
            for size in wanted {
                group.addTask { (size, try await output.capturePhoto(with: PhotoSettings(size: size)).bytes) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.count == 3 && found.allSatisfy { size($0.1) == $0.0.description })
        // The first may be taken before that, and the others have no turn any more. On a machine that is held up, all are.
        var areTaken = true
        for attempt in 0..<20 where areTaken {
            if attempt > 0 { try await session.startRunning() }
            areTaken = try await takesEight(by: output, in: session)
        }
        #expect(!areTaken)
    }

    /// Asks for eight photos and stops the session.
    ///
    /// - Returns: Whether all of them are taken.
    private func takesEight(by output: PhotoOutput, in session: CaptureSession) async throws -> Bool {
        let isOver = Mutex(false)
        let late = (0..<8).map { _ in Task { try await output.capturePhoto(with: Self.large) } }
        let taken = Task {
            defer { isOver.withLock { $0 = true } }
            return await late.takenCount
        }
        try await until {
            let format = try await session.statistics().inputs["camera"]?.format
            return isOver.withLock { $0 } || format?.contains("1920x1080") == true
        }
        try await session.stopRunning()
        return await taken.value == late.count
    }

    @Test func `does not come back after the consent is withdrawn`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(daemon, output)
        try await session.startRunning()
        let program = try await AuthorizationPanel(on: daemon).whoAmI().program
        var burst = Self.large
        burst.burst = 16
        let isOver = Mutex(false)
        let photos = Task { [burst] in
            defer { isOver.withLock { $0 = true } }
            return try await output.capturePhotos(with: burst)
        }
        // They may be taken between two looks of a busy machine.
        try await until {
            let format = try await session.statistics().inputs["camera"]?.format
            return isOver.withLock { $0 } || format?.contains("1920x1080") == true
        }
        try await captured.control("auth", "set", program, "camera", "denied")
        do {
            _ = try await photos.value
        } catch {
            #expect((error as? CaptureError)?.code == .revoked, "\(error)")
        }
        #expect(await code { try await output.capturePhoto(with: Self.large) } == .revoked)
    }
}

extension [Task<CapturedPhoto, any Error>] {
    /// How many come to something.
    fileprivate var takenCount: Int {
        get async {
            var count = 0
            for task in self {
                if (try? await task.value) != nil { count += 1 }
            }
            return count
        }
    }
}
