import BusSupport
import CaptureCore
import CaptureKit
import CaptureSystem
import Glibc
import Testing

/// Photos that are taken while a session of a real daemon runs.
@Suite(.timeLimit(.minutes(10)))
struct `A photo output` {
    private func contents(_ file: OutputFile) throws -> [UInt8] {
        let mapped = try Descriptor.open("/proc/self/fd/\(file.descriptor.descriptor)", O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 4 << 20)
        var filled = 0
        while true {
            let count = try unsafe bytes.withUnsafeMutableBytes { memory in
                try unsafe mapped.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[filled...]))
            }
            if count == 0 { return Array(bytes[..<filled]) }
            filled += count
        }
    }

    private func isJPEG(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xff, 0xd8]) && bytes.suffix(2) == [0xff, 0xd9]
    }

    @Test func `captures again and again, into memory and files, also while a movie records`() async throws {
        let captured = try await RealDaemon()
        let (movie, still) = (try OutputFile.scratch(), try OutputFile.scratch())
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(
            try await captured.client(),
            output,
            try MovieFileOutput(file: movie.descriptor)
        )
        try await session.startRunning()
        try await SessionLifeTests.recorded("movie", in: session)
        // One recorder, that of the movie.
        #expect(try captured.recorders().count == 1)
        let first = try await output.capturePhoto()
        #expect(isJPEG(first.bytes) && first.picture.bytes == first.bytes.count && first.lostBefore == 0)
        let second = try await output.capturePhoto(with: PhotoSettings(format: "png"))
        #expect(second.bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) && second.time > first.time)
        let third = try await output.capturePhoto(with: PhotoSettings(quality: 20), file: still.descriptor)
        #expect(third.bytes.isEmpty && third.time > second.time)
        let kept = try contents(still)
        #expect(isJPEG(kept) && kept.count == third.picture.bytes)
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        #expect(abs(Int64(now.tv_sec) - third.time / 1_000_000_000) <= 60)
        // Several at a time, each with its own recorder.
        let photos = try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try await output.capturePhoto() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(photos.allSatisfy { isJPEG($0.bytes) })
        // A picture that is all white, as the camera's are once a second, is smaller in any quality.
        let sizes = photos.map(\.bytes.count) + [first.bytes.count]
        #expect(sizes.contains { kept.count < $0 })
        #expect(await session.results.isEmpty)
        try await session.stopRunning()
        #expect(await session.results.map(\.error) == [nil])
    }

    @Test func `takes a burst of consecutive frames`() async throws {
        let captured = try await RealDaemon()
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(try await captured.client(), output)
        try await session.startRunning()
        let photos = try await output.capturePhotos(with: PhotoSettings(burst: 5))
        #expect(photos.count == 5 && photos.allSatisfy { isJPEG($0.bytes) })
        for (photo, before) in zip(photos.dropFirst(), photos) {
            // The synthetic camera makes 30 frames a second, and leaves some out when the machine is busy.
            let frames = Double(photo.time - before.time) / 33_333_333
            #expect(abs(frames - 1 - Double(photo.lostBefore)) < 0.5, "\(photos.map(\.picture))")
        }
        #expect(Set(photos.map(\.bytes)).count == 5)
        let files = try (0..<3).map { _ in try OutputFile.scratch() }
        let kept = try await output.capturePhotos(with: PhotoSettings(burst: 3), files: files.map(\.descriptor))
        #expect(try files.map { UInt64(try contents($0).count) } == kept.map(\.picture.bytes))
        try await session.stopRunning()
    }

    @Test func `says why it takes none`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let output = PhotoOutput()
        func refusal(_ settings: PhotoSettings = PhotoSettings()) async -> CaptureError? {
            await #expect(throws: CaptureError.self) { try await output.capturePhotos(with: settings) }
        }
        #expect(await refusal()?.code == .wrongState)
        let session = try await SessionLifeTests.session(daemon, output)
        #expect(await refusal()?.code == .wrongState)
        try await session.startRunning()
        for wrong in [PhotoSettings(format: "gif"), PhotoSettings(quality: 101), PhotoSettings(burst: 17)] {
            #expect(await refusal(wrong)?.code == .usage)
        }
        #expect(await code { try await session.capturePhotos(of: "film") } == .invalidArgument)
        try await session.stopRunning()
        #expect(await refusal()?.code == .wrongState)
        // The session starts again with the same output.
        try await session.startRunning()
        #expect(isJPEG(try await output.capturePhoto().bytes))
        try await captured.control("switch", "camera", "off")
        #expect(await refusal()?.code == .switchedOff)
        try await session.stop()
    }

    @Test func `takes none after the consent is withdrawn`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(daemon, output)
        try await session.startRunning()
        let program = try await AuthorizationPanel(on: daemon).whoAmI().program
        let burst = Task { try await output.capturePhotos(with: PhotoSettings(burst: 16)) }
        try await captured.control("auth", "set", program, "camera", "denied")
        // Whether it begins before, during or after that: it is complete, or says why not.
        do {
            _ = try await burst.value
        } catch {
            #expect((error as? CaptureError)?.code == .revoked, "\(error)")
        }
        #expect(await code { try await output.capturePhoto() } == .revoked)
    }
}
