import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// What goes wrong is told, and what was recorded stays playable. These run the real program, in its sandbox.
@Suite struct FaultTests {
    private static let containers = Material.movies

    /// Starts the program and gives it `seconds` of pictures and sound.
    private func feed(_ format: String, kind: OutputKind = .movie, seconds: Int, blocks: Int? = nil) throws -> Rig {
        let pictures = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: kind, format: format),
            video: kind == .movie ? pictures : nil,
            audio: Material.stereo,
            slots: 256,
            process: RecorderProcess.Limits(fileBlocks: blocks)
        )
        for index in 0..<(seconds * 100) {
            try rig.tone(index)
            if kind == .movie, index % 4 == 0 {
                try rig.frame(Material.flat(UInt8(index % 200), pictures), at: Int64(index) * 10_000_000)
            }
        }
        return rig
    }

    /// Waits until the recorder has taken all pictures and sound.
    private func waitForAll(_ rig: Rig, samples: UInt64) throws {
        try rig.progress { $0.samples >= samples && $0.queueDepth == 0 }
    }

    @Test(arguments: [SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP, SIGSYS])
    func `a signal that kills a recorder is told first`(signal: Int32) throws {
        let rig = try feed("mkv", seconds: 1)
        let process = try #require(rig.process)
        process.kill(signal)
        #expect(try process.wait() == -signal)
        var deaths: [Int32] = []
        while let message = try rig.socket.receive() {
            deaths += RecorderDeath(text: message.text).map { [$0.signal] } ?? []
        }
        #expect(deaths == [signal])
    }

    @Test(arguments: containers) func `a killed recorder leaves all but the last second`(container: String) throws {
        let rig = try feed(container, seconds: 5)
        try waitForAll(rig, samples: 5 * 48000)
        rig.process?.kill(SIGKILL)
        #expect(try rig.process?.wait() == -SIGKILL)
        let times = try Probe.packets(rig.path, "v").map(\.time)
        #expect(try #require(times.last) >= 4, "\(times.suffix(3)), \(rig.reports.suffix(1))")
        #expect(try #require(Probe.packets(rig.path, "a").last).time >= 4)
        #expect(try Probe.decodes(rig.path))
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(length >= 4 && length < 5.1)
    }

    @Test(arguments: Material.sounds) func `a killed recorder of sound leaves all but the last second`(
        format: String
    ) throws {
        let rig = try feed(format, kind: .sound, seconds: 5)
        try waitForAll(rig, samples: 5 * 48000)
        rig.process?.kill(SIGKILL)
        #expect(try rig.process?.wait() == -SIGKILL)
        let raw = try Probe.run("ffmpeg -v error -i \(rig.path) -f s16le -ac 1 - | wc -c")
        #expect(try #require(Int(raw.filter(\.isNumber))) >= 4 * 96000)
    }

    @Test(arguments: containers) func `a recorder whose daemon is gone finishes its file`(container: String) throws {
        let rig = try feed(container, seconds: 3)
        _ = shutdown(rig.socket.file.descriptor, Int32(SHUT_RDWR))
        #expect(try rig.process?.wait() == 0)
        #expect(try Probe.packets(rig.path, "v").count == 75)
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 3) < 0.04)
    }

    @Test func `SIGTERM finishes the file, and SIGINT means nothing`() throws {
        let rig = try feed("mp4", seconds: 2)
        rig.process?.kill(SIGINT)
        rig.process?.kill(SIGHUP)
        try waitForAll(rig, samples: 2 * 48000)
        rig.process?.kill(SIGTERM)
        #expect(try rig.finished(try rig.outcome()).frames == 50)
        #expect(try rig.process?.wait() == 0)
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `a recorder that is ready can open nothing any more`() throws {
        let rig = try feed("mkv", seconds: 1)
        let pid = try #require(rig.process).pid
        let status = try Shell.read("/proc/\(pid)/status").split(separator: "\n").map(String.init)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        #expect(try rig.finished(try rig.end()).samples == 48000)
    }

    @Test func `a stop finishes with what is published`() throws {
        let rig = try feed("mkv", seconds: 2)
        try rig.stop()
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 50)
        #expect(counters.samples == 96000)
    }

    @Test(arguments: containers) func `a file that cannot grow is finished and the fault is told`(
        container: String
    ) throws {
        // 60 KiB: about two seconds of this.
        let rig = try feed(container, seconds: 8, blocks: 120)
        guard case .failed(let fault, let counters) = try rig.end() else {
            throw CaptureError(.internalFault, "\(rig.reports)")
        }
        #expect(fault.code == .inputOutput)
        #expect(fault.errno == EFBIG)
        #expect(try rig.process?.wait() == 74)
        // Sound may be ahead of its pictures where encoders share a busy processor.
        #expect(counters.frames > 0 && counters.duration > 400_000_000, "\(counters)")
        #expect(try Probe.packets(rig.path, "v").count == Int(counters.frames))
        // Of a fragmented file that breaks off among pictures out of order, ffprobe's duration is up to two pictures off.
        let told = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(told - Double(counters.duration) / 1e9) < (container == "mkv" ? 0.05 : 0.1))
        // The end of what is shown last is exact.
        let times = try Probe.run(
            "ffprobe -v error -show_entries packet=pts_time,duration_time -of csv=p=0 \(rig.path)"
        )
        let ends = times.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ",").compactMap { Double($0) }
            return parts.count >= 2 ? parts[0] + parts[1] : nil
        }
        #expect(abs(try #require(ends.max()) - Double(counters.duration) / 1e9) < 0.05)
        let heard = try Probe.run("ffmpeg -v error -i \(rig.path) -f s16le -ac 1 - | wc -c")
        #expect(abs(try #require(Int(heard.filter(\.isNumber))) / 2 - Int(counters.samples)) <= 2048)
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `a WAV file that cannot grow holds what fits`() throws {
        let rig = try feed("wav", kind: .sound, seconds: 5, blocks: 800)
        #expect(try rig.fault(try rig.end()).errno == EFBIG)
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        let bytes = try Shell.bytes(rig.path)
        let header = try #require(bytes.indices.first { bytes[$0...].starts(with: "data".utf8) }) + 8
        #expect(header < 1024)
        #expect(abs(length - Double(800 * 512 - header) / 192_000) < 0.001)
    }

    @Test func `a full device is told`() throws {
        let full = try Descriptor.open("/dev/full", O_WRONLY)
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv"),
            video: Material.yuyv(),
            file: full
        )
        for index in 0..<60 { try rig.frame(Material.flat(90, Material.yuyv()), at: Int64(index) * 33_333_333) }
        let fault = try rig.fault(try rig.end())
        #expect(fault.code == .inputOutput)
        #expect(fault.errno == ENOSPC)
        #expect(fault.message.contains("no space left"))
    }

    @Test func `a reader of a pipe who stops reading misses frames, and cannot hold up a stop`() throws {
        var ends: [Int32] = [-1, -1]
        unsafe #expect(pipe(&ends) == 0)
        let reader = Descriptor(owning: ends[0])
        let format = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "f", kind: .frames, format: "raw"),
            video: format,
            slots: 16,
            file: Descriptor(owning: ends[1])
        )
        for index in 0..<100 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        try rig.stop()
        let fault = try rig.fault(try rig.outcome())
        #expect(fault.message.contains("stopped reading"))
        withExtendedLifetime(reader) {}
    }

    @Test(
        arguments: [
            (OutputDescription(name: "m", kind: .movie, format: "avi"), "mkv, mp4, mov"),
            (OutputDescription(name: "m", kind: .movie, format: "mkv", videoCodec: "copy"), "h264 or mjpeg"),
            (OutputDescription(name: "m", kind: .movie, format: "mkv", videoCodec: "vp9"), "auto, h264"),
            (OutputDescription(name: "m", kind: .movie, format: "mov", audioCodec: "opus"), "aac, pcm"),
            (OutputDescription(name: "m", kind: .movie, format: "mp4", audioCodec: "pcm"), "aac, opus, flac"),
            (OutputDescription(name: "s", kind: .sound, format: "flac", audioCodec: "aac"), "auto"),
        ]
    )
    func `what does not fit together is refused with what does`(output: OutputDescription, hint: String) throws {
        let rig = try Rig(output, video: Material.yuyv(), audio: Material.stereo)
        let fault = try rig.fault(try rig.outcome())
        #expect(fault.code == .invalidArgument)
        #expect(fault.message.contains(hint))
    }

    @Test func `a recorder that gets no job ends without a fault`() throws {
        let (here, there) = try PacketSocket.pair()
        let recorder = try Recorder(there, isSandboxed: false)
        shutdown(here.file.descriptor, Int32(SHUT_RDWR))
        #expect(recorder.run() == 0)
    }

    @Test func `a damaged job and a file that is no ring are refused`() throws {
        let (here, there) = try PacketSocket.pair()
        let recorder = try Recorder(there, isSandboxed: false)
        try here.send("message=job\nkind=opera\n", with: [])
        #expect(recorder.run() == 65)
        let (near, far) = try PacketSocket.pair()
        let second = try Recorder(far, isSandboxed: false)
        let job = RecordingJob(
            output: OutputDescription(name: "m", kind: .movie, format: "mkv"),
            hasVideo: true,
            hasAudio: false
        )
        let file = try Descriptor.open("/dev/null", O_RDWR)
        try near.send(job.text, with: [file, file])
        #expect(second.run() != 0)
        let answer = try #require(try near.receive())
        guard case .failed = try RecorderReport(text: answer.text) else {
            Issue.record("\(answer.text)")
            return
        }
    }
}
