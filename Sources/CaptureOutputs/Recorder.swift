import CLinux
public import CaptureCore
import CaptureRing
public import CaptureSystem
import Glibc
import MediaConversion
import Synchronization
import MediaExamination

/// One output, from the job to the finished file: what a recorder process does. A job to copy or to examine is handed on
/// to `ImportHelper`.
///
/// Threads: one that encodes, muxes and writes, one reader a ring, which only stands by if the former reads it by itself,
/// and the caller's, which hears the daemon and reports.
public final class Recorder: Sendable {
    /// How often progress is reported, in milliseconds.
    private static let reportInterval: Int32 = 250

    private let socket: PacketSocket
    private let isSandboxed: Bool
    private let counters: RecorderCounters
    private let events = BlockingQueue<PipelineEvent>()
    private let wake: EventSignal
    private let outcome = Mutex<Result<Void, CaptureError>?>(nil)
    /// When it was told to stop, in nanoseconds.
    private let stopTime = Atomic(Int64.max)
    private let deadline = RecordingDeadline()

    /// A recorder that takes its job from a socket.
    ///
    /// - Parameters:
    ///   - socket: The daemon's connection.
    ///   - isSandboxed: Gives up opening files and the like for the whole process, once the output is open.
    public init(_ socket: PacketSocket, isSandboxed: Bool) throws(CaptureError) {
        self.socket = socket
        self.isSandboxed = isSandboxed
        let wake = try CaptureError.wrap(.internalFault, try EventSignal())
        self.wake = wake
        counters = RecorderCounters { wake.raise() }
        RecorderFile.prepareProcess()
        LibAV.logErrorsOnly()
        // An encoder that was tried leaves its memory to the one that is used, and to whichever thread uses it.
        _ = clinux_keep_freed_memory()
    }

    /// Ends the output with what is published now, as the daemon's stop does. Thread-safe.
    public func stop() {
        stop(at: .now)
        wake.raise()
    }

    /// The first time counts: nothing that was published later shall be in the file.
    private func stop(at time: Timestamp) {
        _ = stopTime.compareExchange(expected: .max, desired: time.nanoseconds, ordering: .acquiringAndReleasing)
    }

    /// Takes the job, does it, and returns when it is finished or failed.
    ///
    /// - Returns: 0 when it is finished, else the exit code of the fault, which the daemon was told.
    public func run() -> Int32 {
        // Whoever closes a file waits for its file system, which may hang. The daemon is told how it went before that.
        var files: [Descriptor] = []
        defer { withExtendedLifetime(files) {} }
        do throws(CaptureError) {
            // A session that came to nothing has no use for its recorder.
            guard let message = try socket.message() else { return 0 }
            files = message.files
            let job = try RecorderJob(text: message.text)
            guard case .record(let recording) = job else {
                return ImportHelper(socket, isSandboxed: isSandboxed).run(job, files, wake: wake)
            }
            let work = try begin(recording, &files)
            defer { withExtendedLifetime(work) {} }
            // A movie that goes on in another file leaves this one.
            files = []
            report(.ready(counters.report()))
            let result = control(work)
            // The daemon need not wait for a reader that waits for its next buffer.
            defer { for reader in work.readers.values { reader.join() } }
            switch result {
            case .success:
                report(.finished(counters.report()))
                return 0
            case .failure where work.files.isLeft && recording.output.kind.isStream:
                // Who closes the pipe has what was wanted of the stream.
                report(.finished(counters.report()))
                return 0
            case .failure(let error):
                report(.failed(error, counters.report()))
                return error.code.exitCode
            }
        } catch {
            report(.failed(error, counters.report()))
            return error.code.exitCode
        }
    }

    // MARK: Beginning

    /// - Parameter files: What came with the job. Adds the files that come later, which the caller keeps if this fails.
    private func begin(_ job: RecordingJob, _ files: inout [Descriptor]) throws(CaptureError) -> RecorderWork {
        let wanted = 1 + (job.hasVideo ? 1 : 0) + (job.hasAudio ? 1 : 0)
        guard files.count == wanted else {
            throw CaptureError(.badData, "a recorder's job came with \(files.count) descriptors, not \(wanted)")
        }
        let output = job.output
        let outputs = try socket.files(files[0], and: job.fileCount - 1)
        files += outputs.dropFirst()
        let sinks = try outputs.map { file throws(CaptureError) in
            try RecorderFile(file, sizeLimit: output.sizeLimit, maxFileSize: output.maxFileSize)
        }
        var rings: [MediaType: RingReader] = [:]
        if job.hasVideo { rings[.video] = try RingReader(mapping: files[1]) }
        if job.hasAudio { rings[.audio] = try RingReader(mapping: files[wanted - 1]) }
        var (video, audio): (VideoFormat?, AudioFormat?)
        for (kind, ring) in rings {
            switch (kind, ring.format) {
            case (.video, .video(let format)): video = format
            case (.audio, .audio(let format)): audio = format
            default: throw CaptureError(.badData, "a recorder was handed a ring of the wrong kind as \(kind.rawValue)")
            }
        }
        // The sandbox does not let it be read later.
        MediaDate.learnZone()
        let (markers, metadata) = (Markers(), MetadataQueue())
        let outputFiles = RecorderFiles(sinks, sizeLimit: output.sizeLimit)
        let plan = try OutputPlan(
            job,
            video: video,
            audio: audio,
            files: sinks,
            all: outputFiles,
            markers: markers,
            metadata: metadata,
            counters: counters
        )
        if let taken = plan.sound { audio = taken }
        guard !job.disabled.contains(.video) || !plan.output.needsPicture else {
            throw CaptureError(
                .invalidArgument,
                "a movie of a copied stream begins with a picture, so its camera cannot be disabled from the beginning; "
                    + "choose another codec with --video-codec"
            )
        }
        var readers: [MediaType: StreamReader] = [:]
        if let ring = rings[.video], let converter = plan.video {
            readers[.video] = try StreamReader(
                .video,
                ring: ring,
                converter: converter,
                plan: ReadingPlan(
                    buffers: Recorder.depth(of: converter.capacity),
                    wanted: Recorder.frames(of: job),
                    damageLimit: Recorder.silenceLimit(job, video)
                ),
                events: events
            )
        }
        if let ring = rings[.audio], let converter = plan.audio {
            readers[.audio] = try StreamReader(
                .audio,
                ring: ring,
                converter: converter,
                // A pipe's reader may want to hear it at once.
                plan: ReadingPlan(
                    buffers: 1024 + Recorder.buffers(ofPreRoll: job, ring.format),
                    isPatient: sinks[0].isSeekable
                ),
                events: events
            )
        }
        if isSandboxed {
            for layer in Sandbox.close() { Recorder.log(layer) }
        }
        // From here on, little of the libraries and of the tried encoders is needed.
        clinux_unmap_code()
        let made = Unguarded(plan.output)
        let live = Set(readers.keys)
        let pauses = PauseClock(hasVideo: video != nil, audio: audio)
        let gate = ConnectionGate(disabled: job.disabled)
        let sound = audio.map { SoundPassage($0, gain: job.output.settings.gain, counters) }
        let passing = Passing(pauses: pauses, gate: gate, format: audio, sound: sound)
        let schedule = RecordingSchedule(job, video)
        if let schedule, !made.value.isWaiting {
            // Without a first picture there would be nothing: it is waited for, too.
            let wait = max(Recorder.silenceLimit(job, video) - schedule.duration, 0)
            deadline.set(Timestamp(nanoseconds: schedule.end).advanced(by: wait).nanoseconds)
        }
        let feed: PipelineFeed
        if readers.count == 1, let reader = readers.values.first, made.value.isQuick, sinks[0].isSeekable {
            feed = try PipelineFeed(events, reading: reader)
        } else {
            feed = PipelineFeed(events)
            for reader in readers.values { try reader.start() }
        }
        do throws(SystemError) {
            let writer = try WorkerThread(name: "write") {
                RecorderFile.prepareThread()
                let result = self.write(made.value, live, passing, schedule, feed)
                self.outcome.withLock { $0 = result }
                self.wake.raise()
            }
            return RecorderWork(
                files: outputFiles,
                readers: readers,
                passing: passing,
                markers: markers,
                metadata: output.hasMetadata ? metadata : nil,
                feed: feed,
                writer: writer
            )
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    // MARK: Writing

    /// Feeds the output until it is complete or every stream has ended, on a thread of its own.
    private func write(
        _ output: any MediaOutput,
        _ streams: Set<MediaType>,
        _ passing: Passing,
        _ schedule: RecordingSchedule?,
        _ feed: PipelineFeed
    ) -> Result<Void, CaptureError> {
        var live = streams
        var begun: Set<MediaType> = []
        var fault: CaptureError?
        do throws(CaptureError) {
            feeding: while !output.isComplete {
                let event = feed.next(within: 500_000_000)
                let waiting = feed.waiting
                feed.beginWriting()
                defer { feed.endWriting() }
                // A movie begins with its first picture; without any to come, with its first sound.
                func began(_ kind: MediaType) {
                    guard let schedule, !output.isWaiting, !begun.contains(.video), begun.insert(kind).inserted else {
                        return
                    }
                    deadline.set(schedule.end - passing.pauses.length(until: .now))
                }
                switch event {
                case nil: try output.idle()
                case .buffer(.video, let buffer):
                    let passage = passing.gate.look(at: buffer)
                    try passing.pauses.take(video: buffer) { (buffer) throws(CaptureError) in
                        guard case .passes(let isAfterGap) = passage else { return }
                        if isAfterGap { buffer.markGap() }
                        // A movie whose camera was disabled began with its sound.
                        if isAfterGap, !begun.isEmpty { begun.insert(.video) } else { began(.video) }
                        try output.write(video: buffer)
                    }
                case .buffer(.audio, let buffer):
                    passing.prepare(audio: buffer)
                    try passing.pauses.take(audio: buffer) { (buffer) throws(CaptureError) in
                        if !live.contains(.video) || passing.gate.withholds { began(.audio) }
                        try output.write(audio: buffer)
                    }
                // No recorder is handed such a ring.
                case .buffer(.metadata, _), .buffer(.depth, _): break
                case .ended(let kind, let lost):
                    live.remove(kind)
                    try output.streamEnded(kind, lost: lost)
                    if live.isEmpty { break feeding }
                case .begin(let time): try output.begin(at: time)
                case .shoot(let order, let time): output.shoot(order, at: time)
                case .failed(let error):
                    // The ring cannot be read, or the file is gone; what came until now is good.
                    fault = error
                    break feeding
                }
                if output.reachedLimit != nil { deadline.bringForward(passing.pauses) }
                if waiting == 0 { try output.rest() }
                counters.update { $0.queueDepth = waiting }
            }
            try output.finish()
            let reached = output.reachedLimit ?? (deadline.hasPassed ? .duration : nil)
            counters.update { $0.reachedLimit = reached }
            // Pictures that nobody wanted are no shortfall.
            let isWanted = !(passing.gate.hasWithheld && counters.now.samples > 0)
            fault = fault ?? (isWanted ? output.shortfall : nil)
        } catch {
            output.salvage()
            return .failure(fault ?? error)
        }
        return fault.map { .failure($0) } ?? .success(())
    }

    // MARK: Hearing and reporting

    private func control(_ work: RecorderWork) -> Result<Void, CaptureError> {
        var isConnected = true
        var stopped: Timestamp?
        var reported = Timestamp.now
        var isFed = false
        while true {
            if let result = outcome.withLock({ $0 }) {
                work.feed.close()
                for reader in work.readers.values { reader.leave() }
                work.writer.join()
                for report in counters.takeReports() { self.report(report) }
                if case .success = result, let fault = work.files.lookForNames() { return .failure(fault) }
                return result
            }
            let stopTime = stopTime.load(ordering: .acquiring)
            if stopTime != .max, stopped == nil {
                stopped = .now
                for reader in work.readers.values { reader.stop(at: Timestamp(nanoseconds: stopTime)) }
            }
            if deadline.isPast(work.passing.pauses, unless: stopped != nil) {
                // What was published until now is taken, however late; a slow reader of a pipe gets it all.
                for reader in work.readers.values { reader.stop(at: .now) }
            }
            // A reader of a pipe who does not read keeps the last frame from leaving; two seconds are enough.
            if let stopped, Timestamp.now - stopped > 2_000_000_000 { work.files.cancel() }
            if isConnected { isConnected = hear(work) } else { waitForWake() }
            for report in counters.takeReports() { self.report(report) }
            if let levels = counters.takeLevels() { report(.levels(levels)) }
            let becameFed = counters.isFed && !isFed
            if becameFed {
                isFed = true
                for reader in work.readers.values { reader.leave() }
            }
            if becameFed || Timestamp.now - reported >= Int64(Recorder.reportInterval) * 1_000_000 {
                reported = .now
                if let fault = work.files.lookForNames() { events.put(.failed(fault)) }
                report(.progress(counters.report()))
            }
        }
    }

    /// Waits for a command, the end of the writing, or the time of a report.
    ///
    /// - Returns: Whether the daemon is still there.
    private func hear(_ work: RecorderWork) -> Bool {
        do throws(SystemError) {
            let ready = try Poll.wait(
                socket.file.descriptor,
                wake.descriptor,
                timeout: Recorder.reportInterval
            )
            if !ready.1.isEmpty { wake.lower() }
            guard !ready.0.isEmpty else { return true }
            guard let message = try socket.receive() else {
                Recorder.log("the daemon is gone; the file is finished with what is there")
                stop(at: .now)
                return false
            }
            obey(message.text, message.files, work)
            return true
        } catch {
            Recorder.log("\(error)")
            stop(at: .now)
            return false
        }
    }

    private func waitForWake() {
        do throws(SystemError) {
            _ = try Poll.wait(wake.descriptor, timeout: Recorder.reportInterval)
        } catch {
            Recorder.log("\(error)")
        }
        wake.lower()
    }

    private func obey(_ text: String, _ files: [Descriptor], _ work: RecorderWork) {
        do throws(CaptureError) {
            let command = try RecorderCommand(text: text)
            if case .stop(let time) = command { return stop(at: time) }
            if case .begin(let time) = command { return events.put(.begin(at: work.inFile(time))) }
            if case .shoot(let order, let time) = command { return events.put(.shoot(order, at: time)) }
            if let answer = work.obey(command, files, counters) { report(answer) }
        } catch {
            Recorder.log("\(error)")
        }
    }

    /// Tells the daemon; one that does not listen misses progress, and only that.
    private func report(_ report: RecorderReport) {
        do throws(SystemError) {
            if report.isProgress {
                guard try Poll.wait(socket.file.descriptor, for: .writable, timeout: 0).contains(.writable) else {
                    return
                }
            }
            try socket.send(report.text)
        } catch {
            if error.errno != EPIPE, error.errno != ECONNRESET { Recorder.log("\(error)") }
            if case .failed(let fault, _) = report { Recorder.log(fault.message) }
        }
    }
}
