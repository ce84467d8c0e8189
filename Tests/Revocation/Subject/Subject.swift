import CaptureKit
import CaptureRing
import CaptureSystem
import Glibc

/// How consent is taken back.
enum Withdrawal: String, CaseIterable {
    case cameraDenied = "the camera's consent is withdrawn"
    case microphoneDenied = "the microphone's consent is withdrawn"
    case forgotten = "the answers are forgotten"
    case cameraOff = "cameras are switched off"
    case microphoneOff = "microphones are switched off"

    /// The switch that is turned, where it is one.
    var service: AuthorizationService? {
        switch self {
        case .cameraOff: .camera
        case .microphoneOff: .microphone
        default: nil
        }
    }
}

/// A program that takes what it can get of a camera and a microphone, by mapped memory, pipes and files, until its
/// consent is withdrawn, and then looks what else reached it.
struct Subject {
    static let bytesPerSample = 4
    static let rate = 48_000
    let framesPerSecond: Double
    let daemon: CaptureDaemon
    let panel: AuthorizationPanel
    let program: String
    let camera: VideoFormatRequest
    let cameraID: String
    let microphoneID: String
    /// Where the files go.
    let folder: String
    /// Whether other programs use the same devices: the device goes on, and counts from before this program came.
    let isShared: Bool

    /// One session from a yes to what is left after it was withdrawn.
    ///
    /// - Returns: What was wrong.
    func run(_ withdrawal: Withdrawal) async throws -> [String] {
        for service in [AuthorizationService.camera, .microphone] {
            try await panel.set(program, service, isAllowed: true)
        }
        let (pictures, sounds) = (Seen(), Seen())
        let (frames, samples) = (try Drain("frames"), try Drain("samples"))
        let movie = try Descriptor.open(folder + "/movie.mkv", O_RDWR | O_CREAT | O_TRUNC)
        let sound = try Descriptor.open(folder + "/sound.wav", O_RDWR | O_CREAT | O_TRUNC)
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.camera(cameraID, request: camera))
        let audio = AudioFormatRequest(sampleFormat: .s16, sampleRate: Self.rate, channels: 2)
        try await session.addInput(.microphone(microphoneID, request: audio))
        let picturesOutput = VideoDataOutput(name: "pictures", alwaysDiscardsLateVideoFrames: false) {
            pictures.take(picture: $0)
        }
        let soundsOutput = AudioDataOutput(name: "sounds") { sounds.take(sound: $0) }
        try await session.addOutput(picturesOutput)
        try await session.addOutput(soundsOutput)
        try await session.addOutput(try FrameStreamOutput(file: frames.writing, format: "raw"))
        try await session.addOutput(try SampleStreamOutput(file: samples.writing, format: "raw"))
        try await session.addOutput(try MovieFileOutput(file: movie, videoCodec: "mjpeg", audioCodec: "pcm"))
        try await session.addOutput(try SoundFileOutput(file: sound))
        let began = Timestamp.now
        try await session.startRunning()
        try await until("samples flow everywhere") {
            pictures.count.buffers > 2 && sounds.count.buffers > 2 && frames.count > 0 && samples.count > 0
        }
        let rings = try MappedRings()
        guard rings.files.count == 2 else { return ["\(rings.files.count) rings are mapped, not 2"] }
        var wrong: [String] = []
        guard let oldest = rings.oldest(), oldest < Timestamp.now.nanoseconds else {
            return ["the rings' descriptors do not say when a sample was captured"]
        }
        if oldest < began.nanoseconds {
            wrong.append("the rings hold what was captured \(began.nanoseconds - oldest) ns before its start")
        }

        try await withdraw(withdrawal)
        let returned = Timestamp.now
        let held = rings.copies()
        // Several frames' time, in which a device that is not closed would have gone on.
        try await Task.sleep(for: .milliseconds(50))
        if let difference = rings.difference(from: held) { wrong.append(difference) }
        if try !MappedRings().files.isSubset(of: rings.files) { wrong.append("it was handed another ring") }

        if withdrawal.service != nil {
            try await until("the session is interrupted") { await session.isInterrupted }
        } else {
            try await until("the session ends") { await session.status.state.isFinal }
        }
        let (picture, heard) = (pictures.count, sounds.count)
        if let service = withdrawal.service {
            try await panel.setSwitch(service, isOn: true)
            try await until("the session goes on by itself") {
                pictures.count.buffers > picture.buffers && sounds.count.buffers > heard.buffers
            }
            if let difference = rings.difference(from: held) { wrong.append("when it went on, \(difference)") }
            try await session.stop()
            try await until("the session ends") { await session.status.state.isFinal }
        }
        for (what, last) in [("a frame", picture.last), ("sound", heard.last)] where last > returned {
            wrong.append("\(what) of \(last - returned) ns after the return reached it")
        }

        // The device counts from its opening; where it was open before, time bounds what can have come.
        let elapsed = Double(returned - began) / 1e9
        let mostFrames = isShared ? UInt64(elapsed * framesPerSecond) + 2 : picture.sequence + 1
        let mostSamples = isShared ? UInt64(elapsed * Double(Self.rate)) + 4096 : heard.position
        let written = frames.all()
        let size = written.count
        if let last = lastFrame(written) {
            if !picture.pictures.contains(last) { wrong.append("the last frame in the pipe was never in the ring") }
        } else {
            wrong.append("no whole frame is in the pipe: \(size) bytes")
        }
        wrong += more(UInt64(size / bytesPerFrame), than: mostFrames, "frames in the pipe")
        wrong += more(UInt64(samples.all().count / Self.bytesPerSample), than: mostSamples, "samples in the pipe")
        wrong += more(jpegs(in: try contents(movie)), than: mostFrames, "frames in the movie")
        // The file's head, which says when and by what it was made, ends with that of its data.
        let file = try contents(sound)
        let head = (file.firstRange(of: Array("data".utf8))?.upperBound ?? 0) + 4
        let inFile = max(0, file.count - head) / Self.bytesPerSample
        wrong += more(UInt64(inFile), than: mostSamples, "samples in the file")
        picturesOutput.stop()
        soundsOutput.stop()
        return wrong
    }

    private func withdraw(_ withdrawal: Withdrawal) async throws {
        switch withdrawal {
        case .cameraDenied: try await panel.set(program, .camera, isAllowed: false)
        case .microphoneDenied: try await panel.set(program, .microphone, isAllowed: false)
        case .forgotten: try await panel.reset(program: program)
        case .cameraOff: try await panel.setSwitch(.camera, isOn: false)
        case .microphoneOff: try await panel.setSwitch(.microphone, isOn: false)
        }
    }

    private var bytesPerFrame: Int { (camera.width ?? 0) * (camera.height ?? 0) * 2 }

    private func lastFrame(_ bytes: [UInt8]) -> Int? {
        let count = bytes.count / bytesPerFrame
        guard count > 0 else { return nil }
        return unsafe bytes.withUnsafeBytes { all in
            unsafe hashed(UnsafeRawBufferPointer(rebasing: all[(count - 1) * bytesPerFrame..<count * bytesPerFrame]))
        }
    }

    private func more(_ count: UInt64, than most: UInt64, _ what: String) -> [String] {
        count > most ? ["\(count) \(what), where \(most) were captured"] : []
    }

    /// The first bytes of a JPEG stand nowhere else in one.
    private func jpegs(in bytes: [UInt8]) -> UInt64 {
        var (count, offset) = (UInt64(0), 0)
        while let next = bytes[offset...].firstIndex(of: 0xFF), next + 2 < bytes.count {
            if bytes[next + 1] == 0xD8, bytes[next + 2] == 0xFF { count += 1 }
            offset = next + 1
        }
        return count
    }

    private func contents(_ file: Descriptor) throws -> [UInt8] {
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw CaptureError(.inputOutput, "lseek", errno: errno) }
        var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = try unsafe piece.withUnsafeMutableBytes({ try unsafe file.read(into: $0) }), count > 0 {
            all += piece[..<count]
        }
        return all
    }

    private func until(_ what: String, _ condition: () async -> Bool) async throws {
        let limit = Timestamp.now.advanced(by: 30_000_000_000)
        while await !condition() {
            guard Timestamp.now < limit else { throw CaptureError(.timedOut, "30 s passed before \(what)") }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
