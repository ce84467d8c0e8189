import BusSupport
import CaptureCore
import CaptureKit
import Testing

/// Distances as a kind of input of their own, by a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct `Distances` {
    private static let small = VideoFormatRequest(width: 320, height: 240)

    @Test func `are beside colours, each connected to its own output`() async throws {
        let captured = try await RealDaemon()
        let session = try await CaptureSession(on: try await captured.client())
        let (color, depth) = (VideoDataOutput(), DepthDataOutput())
        let sets = Told<SynchronizedData>()
        let synchronizer = try DataOutputSynchronizer(dataOutputs: [color, depth]) { sets.take($0) }
        // Depth comes first, and photos are of colours all the same.
        try await session.addInput(.depth(request: Self.small))
        try await session.addInput(.camera(request: Self.small))
        for output in [color, depth, PhotoOutput()] as [any CaptureOutput] { try await session.addOutput(output) }
        #expect(
            await Set(session.connections) == [
                ConnectionDescription(input: "camera", output: "video-data"),
                ConnectionDescription(input: "depth", output: "depth-data"),
                ConnectionDescription(input: "camera", output: "photo"),
            ]
        )
        try await session.startRunning()
        func pair(_ set: SynchronizedData) -> (color: VideoFrame, depth: VideoFrame)? {
            guard let color = set.frame(of: color), let depth = set.frame(of: depth) else { return nil }
            return (color, depth)
        }
        #expect(try await sets.until { $0.data.contains { pair($0) != nil } })
        let (colors, distances) = try #require(sets.data.compactMap(pair).first)
        #expect(colors.format.pixelFormat == .yuyv && distances.format.pixelFormat == .z16)
        #expect(abs(colors.time.nanoseconds - distances.time.nanoseconds) <= 16_700_000)
        // The wall of the synthetic depth camera.
        #expect(distances.distance(x: 0, y: 200) == 0.5 && distances.distance(x: 160, y: 200) == 2.5)
        #expect(distances.distance(x: 5, y: 5) == nil && distances.distance(x: 320, y: 0) == nil)
        #expect(distances.distances == 0.5...4.487)
        #expect(colors.distance(x: 0, y: 200) == nil && colors.distances == nil)
        let photo = try await session.capturePhotos().first
        #expect(photo?.bytes.starts(with: [0xff, 0xd8]) == true)
        try await session.stopRunning()
        withExtendedLifetime(synchronizer) {}
    }

    @Test func `are photographed as numbers, and never filmed`() async throws {
        let captured = try await RealDaemon()
        let session = try await CaptureSession(on: try await captured.client())
        let output = PhotoOutput()
        try await session.addInput(.depth(request: Self.small))
        try await session.addOutput(output)
        try await session.startRunning()
        let photo = try await output.capturePhoto(with: PhotoSettings(format: "png"))
        #expect(photo.bytes.starts(with: [0x89, 0x50]))
        let movie = try MovieFileOutput(file: try OutputFile.scratch().descriptor)
        let filmed = await #expect(throws: CaptureError.self) { try await session.addOutput(movie) }
        #expect(filmed != nil)
        try await session.stopRunning()
    }

    @Test func `are asked for in vain of a camera of colours`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        for (input, code, said) in [
            (CaptureDeviceInput.depth("synthetic:camera"), CaptureError.Code.noSuchDevice, "synthetic:depth"),
            (.depth(request: VideoFormatRequest(pixelFormat: .yuyv)), .noSuchFormat, "Z16"),
        ] {
            let session = try await CaptureSession(on: daemon)
            try await session.addInput(input)
            try await session.addOutput(DepthDataOutput { _ in })
            let error = await #expect(throws: CaptureError.self) { try await session.startRunning() }
            #expect(error?.code == code && error?.message.contains(said) == true, "\(String(describing: error))")
        }
    }

    @Test func `share a camera with whoever has it as frames, if they are in that format`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let frames = try await CaptureSession(on: daemon)
        try await frames.addInput(.camera("synthetic:depth", request: Self.small))
        try await frames.addOutput(VideoDataOutput { _ in })
        try await frames.startRunning()
        let told = Told<VideoFrame>()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.depth("synthetic:depth"))
        try await session.addOutput(DepthDataOutput { told.take($0) })
        try await session.startRunning()
        #expect(try await told.until { !$0.data.isEmpty })
        try await captured.control(
            "auth",
            "set",
            try await AuthorizationPanel(on: daemon).whoAmI().program,
            "camera",
            "denied"
        )
        #expect(try await told.until { $0.ends.contains { $0?.code == .revoked } })
    }
}
