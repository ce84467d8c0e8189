import Authorization
import CaptureCore
import Logging

/// Starts and ends the recorders of outputs, and has what they made saved into the media library. Bound to the engine's
/// actor.
final class RecorderDesk {
    private let recorders: any RecorderLauncher
    private let devices: any DeviceProvider
    private let observer: any EngineObserver
    /// Saves outputs into the media library; if it is `nil`, outputs that ask for that are refused.
    private let saver: (any RecordingSaver)?
    /// How long a recorder may take to begin and to finish its file.
    private let patience: RecorderPatience
    private var pace = EncoderPace()

    init(
        recorders: any RecorderLauncher,
        devices: any DeviceProvider,
        observer: any EngineObserver,
        saver: (any RecordingSaver)?,
        patience: RecorderPatience
    ) {
        self.recorders = recorders
        self.devices = devices
        self.observer = observer
        self.saver = saver
        self.patience = patience
    }

    // MARK: Saving into the library

    /// Refuses outputs that cannot be saved as they are described.
    func checkSaving(_ description: SessionDescription) throws(CaptureError) {
        for destination in description.outputs.compactMap(\.library) {
            guard let saver else {
                throw CaptureError(.invalidArgument, "there is no media library to save to; give a file to write to")
            }
            try saver.check(destination)
        }
    }

    /// Waits for the consent to save, where an output asks for that.
    ///
    /// - Parameters:
    ///   - client: Who starts the session, or adds them to it: its maker may be gone by then.
    ///   - mayAsk: Whether the person is asked for what was never decided.
    nonisolated(nonsending) func authorizeSaving(
        _ outputs: [OutputDescription],
        of session: Session,
        for client: SessionClient,
        mayAsk: Bool
    ) async throws(CaptureError) {
        guard let saver, outputs.contains(where: { $0.library != nil }) else { return }
        try await saver.authorize(client, mayAsk: mayAsk)
        try session.proceed()
        // The question may have stood for minutes, in which the connection may have got to somebody else.
        try await client.confirmIdentity()
        try session.proceed()
    }

    /// The files that an output is written to, and the recordings in the library if they are some.
    nonisolated(nonsending) private func places(
        of output: OutputDescription,
        madeWith source: SharedSource?,
        in session: Session,
        for client: SessionClient
    ) async throws(CaptureError) -> (files: [any OpenFile], recordings: [any LibraryRecording]) {
        var (files, recordings): ([any OpenFile], [any LibraryRecording]) = ([], [])
        do throws(CaptureError) {
            for name in session.fileNames(of: output.name) {
                if output.library != nil, let saver {
                    let place = try await saver.begin(output, madeWith: source?.device.name ?? "", for: client)
                    files.append(place.file)
                    recordings.append(place.recording)
                } else if let file = session.files[name] {
                    files.append(file)
                } else {
                    throw CaptureError(.invalidArgument, "output '\(output.name)' came without a file to write to")
                }
            }
        } catch {
            for recording in recordings { await recording.cancel() }
            throw error
        }
        return (files, recordings)
    }

    /// Saves what a recorder made into the library, unless it is of no use.
    ///
    /// - Returns: What is wrong with it.
    nonisolated(nonsending) private func save(
        _ output: LiveOutput,
        _ error: CaptureError?,
        in session: Session
    ) async -> CaptureError? {
        let isUnbegun = session.startedAt == nil && session.isEnding
        // Nobody wants half a picture.
        if isUnbegun || output.statistics.isWaiting || error != nil && output.description.kind == .photo {
            for recording in output.recordings { await recording.cancel() }
            return output.statistics.isWaiting ? error : error ?? CaptureError(.wrongState, "stopped before it ran")
        }
        var fault = error
        for recording in output.recordings {
            // After a fault the rest of a burst is not wanted either.
            if fault != nil, output.description.kind == .photo {
                await recording.cancel()
                continue
            }
            do throws(CaptureError) {
                let saved = try await recording.save()
                observer.outputSaved(session.snapshot, output: output.description.name, saved, to: output.connection)
            } catch let refusal {
                fault =
                    fault.map { CaptureError($0.code, "\($0.message); \(refusal.message)", errno: $0.errno) } ?? refusal
            }
        }
        return fault
    }

    // MARK: Beginning

    /// Starts the recorders of outputs that have one, by their names.
    func start(_ outputs: [OutputDescription]) -> [String: RecorderStart] {
        let recorded = outputs.filter(\.kind.hasRecorder)
        return Dictionary(recorded.map { ($0.name, RecorderStart(recorders)) }) { first, _ in first }
    }

    /// Hands an output's recorder its job, if it has one.
    ///
    /// - Parameter client: Who asks for the output.
    func begin(
        _ output: OutputDescription,
        by start: RecorderStart?,
        of description: SessionDescription,
        inputs: [String: LiveInput],
        in session: Session,
        for client: SessionClient,
        on engine: isolated CaptureEngine
    ) async throws(CaptureError) -> LiveOutput {
        let fed = description.inputs(of: output.name)
        guard let start else {
            let live = LiveOutput(output, recorder: nil, feeds: fed.compactMap { inputs[$0.name]?.shared })
            session.outputs[output.name] = live
            return live
        }
        let video = fed.first(where: \.mediaType.isFrames).flatMap { inputs[$0.name]?.shared }
        let audio = fed.first { $0.mediaType == .audio }.flatMap { inputs[$0.name]?.shared }
        var origin = CaptureOrigin(camera: video?.device, microphone: audio?.device)
        if output.kind == .photo, let camera = video?.device, let grant = session.grants[.camera] {
            origin.note(await devices.settings(of: camera, grant: grant))
        }
        let disabled = session.disabledKinds(of: output.name, in: description)
        let job = RecordingJob(
            output: pace.fitted(output, to: video?.pictures, for: session.client.identity.user),
            hasVideo: video != nil,
            hasAudio: audio != nil,
            disabled: disabled,
            origin: origin,
            silenceLimit: engine.silence.limit.nanoseconds,
            preRollBytes: engine.preRollMemory,
            fileCount: session.fileNames(of: output.name).count,
            companion: session.shot(output.name)?.companion,
            embedsCompanion: session.shot(output.name)?.embedsCompanion ?? false,
            isOrdered: session.shot(output.name)?.setsCamera ?? false
        )
        let feeds = [video, audio].compactMap(\.self)
        let (files, recordings) = try await places(of: output, madeWith: feeds.first, in: session, for: client)
        let given = [video, audio].map { $0?.ring }
        // Who reads a pipe may want to hear it at once.
        let isPatient = !files.contains { $0.identity == nil }
        let handle: any RecorderHandle
        do throws(CaptureError) {
            let recorder = try await start.recorder()
            do throws(CaptureError) {
                // The consent may have gone while it started.
                try session.proceed()
            } catch {
                recorder.dismiss()
                throw error
            }
            handle = try await recorder.take(
                job,
                files: files,
                video: given[0]?.handOut(isPatient: isPatient),
                audio: given[1]?.handOut(isPatient: isPatient)
            )
        } catch {
            for recording in recordings { await recording.cancel() }
            throw error
        }
        let live = LiveOutput(
            output,
            recorder: handle,
            files: files.map(\.identity),
            pictures: job.pictureCount,
            recordings: recordings,
            for: client.connection,
            feeds: feeds
        )
        session.outputs[output.name] = live
        // Sources may have moved to new rings while the recorder got its job. It hears of later moves as usual.
        for (source, ring) in zip([video, audio], given) {
            if let source, let ring { live.launched(with: ring, of: source) }
        }
        // Connections may have been enabled or disabled meanwhile.
        for kind in disabled.symmetricDifference(session.disabledKinds(of: output.name, in: description)) {
            live.working?.setEnabled(disabled.contains(kind), kind)
        }
        if session.state == .starting, let now = session.description.outputs.first(where: { $0.name == output.name }),
            now.settings.gain != output.settings.gain
        {
            live.working?.setGain(now.settings.gain)
        }
        if session.levelWatchers[output.name]?.isEmpty == false { live.working?.watchLevels(true) }
        // The recorder has its own descriptors now; the daemon keeps no file of a client open.
        for name in session.fileNames(of: output.name) { session.files[name] = nil }
        let id = session.id
        Task { [weak engine] in
            for await report in handle.reports { await engine?.reported(report, by: handle, id, output.name) }
            await engine?.reported(nil, by: handle, id, output.name)
        }
        return live
    }

    /// Waits until an output's file is begun, or its recorder took too long.
    func waitUntilReady(_ output: LiveOutput, on engine: isolated CaptureEngine) async throws(CaptureError) {
        if output.isReady { return }
        let limit = patience.begin
        let timer = Task {
            _ = engine
            try await Task.sleep(for: limit)
            let name = output.description.name
            let late = CaptureError(.recorderLost, "the recorder of '\(name)' did not begin its file in time")
            if output.refuse(late) { output.kill() }
        }
        let error = await withCheckedContinuation { output.whenReady($0) }
        timer.cancel()
        if let error { throw error }
    }

    // MARK: Reports

    /// Takes a report of a recorder: `nil` when its connection ended. Unless it reported an end before, it was lost.
    func take(
        _ report: RecorderReport?,
        by recorder: any RecorderHandle,
        _ name: String,
        of session: Session,
        on engine: isolated CaptureEngine
    ) {
        // A name may have passed to another output since.
        guard let output = session.outputs[name], output.recorder === recorder, !output.isDone else { return }
        guard let report else { return lost(output, recorder.end, in: session, on: engine) }
        log.log(
            level: report.isProgress ? .trace : .debug,
            "recorder of '\(name)' in session \(session.id): \(report.words)"
        )
        switch report {
        case .ready(let counters):
            output.statistics = counters
            output.begin()
        case .progress(let counters):
            output.statistics = counters
            output.endIfFull()
            output.feed()
            output.run?.note(frames: counters.frames)
            if output.needsNothing { engine.finishIfDone(session) }
        case .levels(let levels):
            guard output.take(levels), !session.isEnding, let watchers = session.levelWatchers[name] else { return }
            observer.outputLevels(session.id, output: name, levels, to: Set(watchers.keys))
        case .file(let error): if output.segments?.answer(error) == true { output.stop() }
        case .segment(let event):
            guard output.segments?.note(event) == true else { return }
            observer.outputSegment(session.snapshot, output: name, event)
        case .finished(let counters):
            output.statistics = counters
            pace.note(
                counters,
                of: output.description,
                from: output.feeds.lazy.compactMap(\.pictures).first,
                for: session.client.identity.user
            )
            ended(output, engine.silence.fault(behind: output, in: session), in: session, on: engine)
        case .failed(let error, let counters):
            output.statistics = counters
            ended(output, error, in: session, on: engine)
        }
    }

    private func lost(_ output: LiveOutput, _ end: String, in session: Session, on engine: isolated CaptureEngine) {
        let name = output.description.name
        log.debug("recorder of '\(name)' in session \(session.id): gone, \(end)")
        let why = end.isEmpty ? "" : ": \(end)"
        let error = CaptureError(.recorderLost, "the recorder of '\(name)' ended before its file was finished\(why)")
        if output.recordings.isEmpty { return finished(output, error, in: session, on: engine) }
        output.gone(error) { fault in
            Task {
                let fault = await self.save(output, fault, in: session)
                if !output.isDone { self.finished(output, fault, in: session, on: engine) }
            }
            engine.finishIfDone(session)
        }
    }

    /// A recorder has said what became of its file. What goes into the library is looked at when the recorder is gone, and
    /// writes to it no more.
    private func ended(
        _ output: LiveOutput,
        _ error: CaptureError?,
        in session: Session,
        on engine: isolated CaptureEngine
    ) {
        // The recorder of a photo only knows that the stream ended; the session knows why.
        let isCutOff = error?.code == .inputOutput && error?.errno == 0 && session.isShot(output.description.name)
        let error = output.run?.fault ?? (isCutOff ? error.map(session.whyNoPhoto) : error)
        guard output.recordings.isEmpty else { return output.report(error) }
        finished(output, error, in: session, on: engine)
    }

    /// An output is at its end, and those whom it concerns are told: when its camera is as before, if photos changed that.
    /// The first end counts, since a recorder also goes after it has said how its file ended.
    private func finished(
        _ output: LiveOutput,
        _ error: CaptureError?,
        in session: Session,
        on engine: isolated CaptureEngine
    ) {
        if output.ending != nil { return }
        let error = output.run.map { $0.end(error) } ?? error
        guard [output.run?.isOver, output.still?.isOver].contains(false) else {
            return close(output, error, in: session, on: engine)
        }
        output.ending = Task {
            await output.run?.whenOver(on: engine)
            // It changes its size back when nobody needs it any more.
            output.needNothing()
            await output.still?.whenOver(on: engine)
            if !output.isDone { self.close(output, error, in: session, on: engine) }
        }
    }

    private func close(
        _ output: LiveOutput,
        _ error: CaptureError?,
        in session: Session,
        on engine: isolated CaptureEngine
    ) {
        // If the output never began, its waiter gets the error: the start fails, or the change is undone.
        let isShot = session.isShot(output.description.name)
        if output.isReady, !isShot { session.note(error) }
        observer.outputFinished(
            session.snapshot,
            output: output.description.name,
            error: error,
            // Everybody who may see the session hears of this.
            statistics: output.statistics.withoutLoudness
        )
        output.finish(error)
        if isShot { session.endShot(output.description.name) }
        engine.finishIfDone(session)
    }

    // MARK: Ending

    /// Tells recorders to finish and waits until each has. Kills those that take too long: a photo whose frame is there has
    /// ten times as long.
    ///
    /// - Parameter session: The session whose change needs this. The wait stops when that session ends or is
    ///   interrupted.
    func finish(_ outputs: [LiveOutput], forChangeOf session: Session? = nil, on engine: isolated CaptureEngine) async {
        let waiting = outputs.filter { !$0.isDone && $0.recorder != nil }
        for output in waiting { output.stop() }
        let limit = patience.finish
        let timer = Task {
            _ = engine
            try await Task.sleep(for: limit)
            for output in waiting where !output.isFed { output.kill() }
            // A slow disk is no reason to lose a photo that was taken.
            try await Task.sleep(for: limit * 9)
            for output in waiting { output.kill() }
        }
        for output in waiting where !output.isDone && session?.isEnding != true {
            await withCheckedContinuation { output.whenDone($0) }
        }
        timer.cancel()
    }

    /// Ends outputs of a start or a change that did not come about.
    nonisolated(nonsending) func discard(_ outputs: [LiveOutput]) async {
        // What is being saved was captured, and stays.
        let unsaved = outputs.filter { !$0.isDone && !$0.isSaving }
        for output in outputs {
            output.kill()
            output.finish(nil)
        }
        for recording in unsaved.flatMap(\.recordings) { await recording.cancel() }
    }
}
