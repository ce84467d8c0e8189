import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc

/// A recorder on a thread of its own, fed by rings that the test writes. It is ready, or has failed at once.
final class Rig {
    /// When the streams of tests begin.
    static let epoch = Timestamp(nanoseconds: 100_000_000_000)
    /// When the streams of this one begin.
    var epoch = Rig.epoch
    /// What they come from.
    static let origin = CaptureOrigin(
        camera: "HD Kamera Ü",
        cameraMaker: "Maker",
        microphone: "Mikrofon",
        exposure: 20_000_000,
        gain: 7,
        sensitivity: 400,
        exposureMode: .manual,
        whiteBalance: .automatic,
        exposureBias: -500
    )

    let video: RingWriter?
    let audio: RingWriter?
    let path: String
    /// The files of a burst after the first.
    let others: [String]
    let socket: PacketSocket
    private(set) var reports: [RecorderReport] = []
    private(set) var process: RecorderProcess?
    private var thread: WorkerThread?
    private var position: UInt64 = 0
    private var sequence: UInt64 = 0

    init(
        _ output: OutputDescription,
        video: VideoFormat? = nil,
        audio: AudioFormat? = nil,
        slots: Int = 128,
        disabled: Set<MediaType> = [],
        file: Descriptor? = nil,
        burst: Int = 1,
        companion: String? = nil,
        embedsCompanion: Bool = false,
        isOrdered: Bool = false,
        preRollBytes: Int64 = RecordingJob.usualPreRollBytes,
        process: RecorderProcess.Limits? = nil
    ) throws {
        self.video = try video.map { try RingWriter(format: .video($0), slots: slots, kept: 2, name: "test video") }
        self.audio = try audio.map { try RingWriter(format: .audio($0), slots: 2048, kept: 2, name: "test audio") }
        path = Rig.temporaryPath(output.format)
        let target = try file ?? Descriptor.open(path, O_RDWR | O_CREAT | O_TRUNC)
        let (here, there) = try PacketSocket.pair()
        socket = here
        if let process {
            self.process = try RecorderProcess(there, process)
        } else {
            let recorder = try Recorder(there, isSandboxed: false)
            thread = try WorkerThread(name: "recorder") { _ = recorder.run() }
        }
        let job = RecordingJob(
            output: output,
            hasVideo: video != nil,
            hasAudio: audio != nil,
            disabled: disabled,
            origin: Rig.origin,
            preRollBytes: preRollBytes,
            fileCount: burst,
            companion: companion,
            embedsCompanion: embedsCompanion,
            isOrdered: isOrdered
        )
        others = (1..<burst).map {
            Rig.temporaryPath($0.isMultiple(of: 2) || embedsCompanion ? output.format : companion ?? output.format)
        }
        try here.send(job.text, with: [target] + [self.video?.file, self.audio?.file].compactMap { $0 })
        for path in others {
            try here.send(RecorderCommand.file.text, with: [Descriptor.open(path, O_RDWR | O_CREAT | O_TRUNC)])
        }
        _ = try next()
    }

    deinit {
        for path in [path] + others { unsafe unlink(path) }
    }

    static func temporaryPath(_ suffix: String) -> String {
        "/tmp/captured-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).\(suffix)"
    }

    /// Its first report: that it is ready, or failed at once.
    func ready() throws -> RecorderReport { reports[0] }

    /// The next report.
    func next() throws -> RecorderReport {
        guard let message = try socket.receive() else {
            throw CaptureError(.recorderLost, "the recorder left after \(reports.suffix(2))")
        }
        let report = try RecorderReport(text: message.text)
        reports.append(report)
        return report
    }

    /// The last report, when the recorder is done.
    func outcome() throws -> RecorderReport {
        while true {
            let report = try finalReport ?? next()
            switch report {
            case .finished, .failed:
                thread?.join()
                thread = nil
                return report
            default: continue
            }
        }
    }

    /// The report of a recorder that is done, if it was read already.
    private var finalReport: RecorderReport? {
        switch reports.last {
        case .finished, .failed: reports.last
        default: nil
        }
    }

    /// Waits until so many pictures were taken, or the recorder is done: no camera is seconds behind its microphone.
    func taken(_ pictures: Int) throws {
        while finalReport == nil {
            guard case .progress(let counters) = try next() else { continue }
            if Int(counters.frames + counters.missedFrames) >= pictures { return }
        }
    }

    /// Waits for a report of progress that `holds`, for a minute at most.
    func progress(_ holds: (OutputStatistics) -> Bool) throws {
        let begun = Timestamp.now
        while true {
            if Timestamp.now - begun > 60_000_000_000 {
                throw CaptureError(.timedOut, "no such progress: \(reports.suffix(1))")
            }
            switch try next() {
            case .progress(let counters) where holds(counters): return
            case .progress, .levels, .ready: continue
            case let report: throw CaptureError(.internalFault, "\(report)")
            }
        }
    }

    /// Seconds of what a recorder that was killed reported last.
    func lastReported() throws -> Double {
        var seconds = 0.0
        while let message = try socket.receive() {
            guard case .progress(let counters) = try RecorderReport(text: message.text) else { continue }
            seconds = Double(counters.duration) / 1e9
        }
        return seconds
    }

    /// Keeps the clock from ending an output that has a duration: only its streams do, however late they are.
    func holdClock() throws {
        // By the clock this pause has begun; no stream reaches it.
        try socket.send(RecorderCommand.pause(at: epoch.advanced(by: 90_000_000_000)).text)
        try progress { $0.isPaused }
    }

    func stop(at time: Timestamp = .now) throws { try socket.send(RecorderCommand.stop(at: time).text) }

    /// Orders a picture of what is published after a time, and waits until the recorder knows of it.
    func shoot(_ order: PictureOrder, at nanoseconds: Int64) throws {
        try socket.send(RecorderCommand.shoot(order, at: epoch.advanced(by: nanoseconds)).text)
        // It answers to a file, in the order of commands.
        try socket.send(RecorderCommand.file.text, with: [Descriptor.open("/dev/null", O_RDWR)])
        while true {
            if case .file = try next() { return }
        }
    }

    /// The counters of a recording that finished.
    func finished(_ report: RecorderReport) throws -> OutputStatistics {
        guard case .finished(let counters) = report else { throw CaptureError(.internalFault, "\(report)") }
        return counters
    }

    /// The fault of a recording that failed.
    func fault(_ report: RecorderReport) throws -> CaptureError {
        guard case .failed(let error, _) = report else { throw CaptureError(.internalFault, "\(report)") }
        return error
    }

    /// Ends both rings and waits.
    func end(_ reason: StreamEnd = .stopped) throws -> RecorderReport {
        video?.finish(reason)
        audio?.finish(reason)
        return try outcome()
    }

    /// Publishes a frame.
    ///
    /// - Parameter lost: How many the camera lost before it.
    func frame(
        _ bytes: [UInt8],
        at nanoseconds: Int64,
        lost: UInt64 = 0,
        flags: BufferFlags = [.monotonic, .keyframe]
    ) throws {
        guard let video, let slot = video.claim() else { throw CaptureError(.internalFault, "no slot") }
        let memory = unsafe video.memory(ofSlot: slot)
        unsafe memory.copyBytes(from: bytes)
        sequence += 1 + lost
        video.publish(
            slot,
            BufferInfo(
                timestamp: epoch.advanced(by: nanoseconds),
                deviceSequence: sequence,
                bytesUsed: (bytes.count, 0, 0, 0),
                flags: flags
            )
        )
    }

    /// Publishes periods of a tone, from the start of the sound.
    func tone(periods: Int) throws {
        for index in 0..<periods { try tone(index) }
    }

    /// Publishes one period of it, or of silence.
    ///
    /// - Parameter delay: Nanoseconds by which all of the sound comes later.
    func tone(_ index: Int, delay: Int64 = 0, isSilent: Bool = false) throws {
        let position = UInt64(index * 480)
        let silence = [UInt8](repeating: 0, count: Material.stereo.periodBytes)
        let bytes = isSilent ? silence : Material.tone(Material.stereo, position: position)
        try period(bytes, at: delay + Int64(index) * 10_000_000, position: position)
    }

    /// Publishes one period.
    func period(_ bytes: [UInt8], at nanoseconds: Int64, position: UInt64, flags: BufferFlags = .monotonic) throws {
        guard let audio, let slot = audio.claim() else { throw CaptureError(.internalFault, "no slot") }
        let memory = unsafe audio.memory(ofSlot: slot)
        unsafe memory.copyBytes(from: bytes)
        audio.publish(
            slot,
            BufferInfo(
                timestamp: epoch.advanced(by: nanoseconds),
                deviceSequence: position,
                position: position,
                bytesUsed: (bytes.count, 0, 0, 0),
                flags: flags
            )
        )
    }
}

/// Formats and pictures of tests.
enum Material {
    static let movies = OutputDescription.formats(of: .movie)
    static let sounds = OutputDescription.formats(of: .sound)
    /// Of any camera. A DNG takes a sensor's own numbers, a TIFF distances.
    static let photos = OutputDescription.formats(of: .photo).filter { !["dng", "tiff"].contains($0) }

    static func yuyv(_ width: Int = 320, _ height: Int = 240, fps: UInt32 = 30) -> VideoFormat {
        VideoFormat(
            pixelFormat: .yuyv,
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: fps),
            planes: [PlaneLayout(offset: 0, stride: width * 2, size: width * height * 2)],
            color: ColorDescription(colorSpace: 1)
        )
    }

    static func compressed(_ format: PixelFormat, _ width: Int = 320, _ height: Int = 240) -> VideoFormat {
        VideoFormat(
            pixelFormat: format,
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: 0, size: 200_000)]
        )
    }

    static let stereo = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)

    /// A YUYV frame of one luma.
    static func flat(_ luma: UInt8, _ format: VideoFormat) -> [UInt8] {
        var row = [UInt8](repeating: 128, count: format.width * 2)
        for index in stride(from: 0, to: row.count, by: 2) { row[index] = luma }
        var frame: [UInt8] = []
        for _ in 0..<format.height { frame += row }
        return frame
    }

    /// A picture in which each byte is a random number of so many bits, at least 64 if they are less than eight.
    static func noise(_ format: VideoFormat, seed: UInt32, bits: UInt32 = 8) -> [UInt8] {
        var seed = seed &* 7919 &+ 1
        let least: UInt32 = bits < 8 ? 64 : 0
        return (0..<format.frameSize).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return UInt8(least + seed >> (32 - bits))
        }
    }

    /// A period of a 1 kHz tone at half of full scale.
    static func tone(_ format: AudioFormat, position: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<format.periodFrames {
            let angle = 2 * Double.pi * 1000 * Double(Int(position) + index) / Double(format.sampleRate)
            let sample = Int16(16384 * sin(angle))
            for _ in 0..<format.channels {
                bytes.append(UInt8(truncatingIfNeeded: sample))
                bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
        }
        return bytes
    }
}

/// Programs that look at files.
enum Probe {
    /// What a program prints.
    static func run(_ command: String) throws -> String {
        let out = Rig.temporaryPath("out")
        defer { unsafe unlink(out) }
        let status = try Shell.run("\(command) > \(out) 2>\(out).err")
        let text = try Shell.read(out)
        let errors = try Shell.read(out + ".err")
        unsafe unlink(out + ".err")
        guard status == 0 else { throw CaptureError(.internalFault, "\(command): \(status): \(errors)") }
        return text
    }

    /// One value a line, without names.
    static func values(_ path: String, _ arguments: String) throws -> [String] {
        try run("ffprobe -v error \(arguments) -of default=nk=1:nw=1 \(path)")
            .split(separator: "\n").map(String.init)
    }

    static func packets(_ path: String, _ stream: String) throws -> [(time: Double, size: Int, isKey: Bool)] {
        try run(
            "ffprobe -v error -select_streams \(stream) -show_entries packet=pts_time,size,flags -of csv=p=0 \(path)"
        )
        .split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ",")
            guard parts.count >= 3, let time = Double(parts[0]), let size = Int(parts[1]) else { return nil }
            return (time, size, parts[2].hasPrefix("K"))
        }
    }

    /// Whether a player decodes all of it without a complaint.
    static func decodes(_ path: String) throws -> Bool {
        try run("ffmpeg -v error -xerror -i \(path) -f null - 2>&1").isEmpty
    }
}

enum Shell {
    static func run(_ command: String) throws -> Int32 {
        var pid = pid_t()
        let words = ["/bin/sh", "-c", command]
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&pid, "/bin/sh", nil, nil, &arguments, environ)
        guard code == 0 else { throw CaptureError(.internalFault, "no shell: \(code)") }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) == -1, errno == EINTR {}
        return status
    }

    static func bytes(_ path: String) throws -> [UInt8] { try bytes(of: try Descriptor.open(path, O_RDONLY)) }

    /// Everything that can be read, to the end.
    static func bytes(of file: Descriptor) throws -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
            if count == 0 { return all }
            all += chunk[..<count]
        }
    }

    static func read(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }
}
