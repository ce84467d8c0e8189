import Authorization
public import CaptureCore

/// Photos that a program takes while its session runs.
extension CaptureEngine {
    /// Takes photos of what the camera of an output delivers from now on. Returns when their recorder has begun, with
    /// the name of an output: its end tells that they are taken, or why not.
    ///
    /// A photo is an output beside the described ones, with a recorder of its own, so that it can be saved, fail and be
    /// withdrawn as any other.
    ///
    /// - Parameters:
    ///   - name: An output that a camera feeds, of any kind.
    ///   - files: The files that the client opened, by their numbers from 1: one for each picture, or two if they have
    ///     companions. None for the library, whose companions are inside their pictures' files.
    ///   - cameras: Lends the camera for photos that it is set for.
    /// - Throws: `notPermitted` for another program, and if it may not save into the library; `invalidArgument` for an
    ///   output without a camera, for settings and for files, and for a size that the camera does not have; `busy` if too
    ///   many photos are asked for, and for another size of a camera that others use; `wrongState` unless the session runs;
    ///   why the session ends, if it does meanwhile.
    public func capturePhoto(
        _ id: UInt32,
        output name: String,
        _ settings: PhotoSettings,
        files: [String: any OpenFile],
        client: SessionClient,
        cameras: (any CameraLender)? = nil
    ) async throws(CaptureError) -> String {
        let session = try changeable(id, by: client)
        let client = session.acting(client)
        try session.checkTakesPhotos()
        try settings.check(files: files.count)
        guard files.isEmpty || Set(files.keys) == Set((1...settings.fileCount).map { "\($0)" }) else {
            throw CaptureError(.invalidArgument, "the files of photos are numbered from 1; these are not")
        }
        let shot = try session.beginShot(of: name, settings)
        do throws(CaptureError) {
            try await takeTurn(session, for: client.connection)
            var still: StillCapture?
            defer { if still == nil { endTurn(session) } }
            if Task.isCancelled { throw ChangeQueue.cancelled }
            still = try await take(settings, shot, of: name, files: files, in: session, for: client, cameras)
            if let still {
                // No other change comes before the camera runs as usual.
                Task {
                    await still.end(shot, on: self)
                    endTurn(session)
                }
            }
            return shot
        } catch {
            session.endShot(shot)
            throw session.whyNoPhoto(error)
        }
    }

    private func take(
        _ settings: PhotoSettings,
        _ shot: String,
        of name: String,
        files: [String: any OpenFile],
        in session: Session,
        for client: SessionClient,
        _ cameras: (any CameraLender)?
    ) async throws(CaptureError) -> StillCapture? {
        try session.checkTakesPhotos()
        var description = session.description
        let whole = description.outputs[try place(of: name, in: session)]
        guard let camera = description.inputs(of: name).first(where: \.mediaType.isFrames) else {
            throw CaptureError(.invalidArgument, "no camera feeds the output '\(name)', so it takes no photo")
        }
        guard !session.disabled.contains(ConnectionDescription(input: camera.name, output: name)) else {
            throw CaptureError(
                .wrongState,
                "the camera is disabled for '\(name)', so it takes no photo there; enable it"
            )
        }
        guard let source = session.inputs[camera.name]?.shared else {
            throw CaptureError(.wrongState, "the camera '\(camera.name)' of the output '\(name)' is closed")
        }
        var photo = settings.output(named: shot)
        photo.settings.rotation = whole.settings.rotation
        photo.settings.isMirrored = whole.settings.isMirrored
        description.outputs.append(photo)
        description.connections.append(ConnectionDescription(input: camera.name, output: photo.name))
        try description.validate(photo, hasFile: !files.isEmpty)
        try desk.checkSaving(SessionDescription(inputs: [], outputs: [photo], connections: []))
        try await desk.authorizeSaving([photo], of: session, for: client, mayAsk: false)
        let named = Dictionary(
            uniqueKeysWithValues: session.fileNames(of: photo.name).enumerated().compactMap { index, name in
                files["\(index + 1)"].map { (name, $0) }
            }
        )
        // Whoever does not read a pipe would keep the camera from having its settings back.
        let changesFormat = source.pictures.flatMap { StillCapture.size(for: settings, $0) } != nil
        if settings.setsCamera || changesFormat, named.values.contains(where: { $0.identity == nil }) {
            throw CaptureError(
                .invalidArgument,
                "photos with a bracket, a flash or another format of the camera cannot go into a pipe, a socket or a "
                    + "device; give files"
            )
        }
        try sessions.refuseShared(named, beside: session.written, of: session.id, for: client)
        session.files.merge(named) { $1 }
        defer { for name in named.keys { session.files[name] = nil } }
        let still = try await StillCapture.begin(settings, of: camera, in: session, on: self)
        do throws(CaptureError) {
            let run = try await borrow(still?.source ?? source, for: settings, of: client, cameras)
            try await begin(photo, of: description, in: session, for: client, run)
        } catch {
            await still?.goBack(on: self)
            throw error
        }
        session.outputs[shot]?.still = still
        return still
    }

    private func begin(
        _ photo: OutputDescription,
        of description: SessionDescription,
        in session: Session,
        for client: SessionClient,
        _ run: ShotRun?
    ) async throws(CaptureError) {
        do throws(CaptureError) {
            _ = try await open([], outputs: [photo], of: description, in: session, for: client)
        } catch {
            await run?.camera.giveBack()
            throw error
        }
        guard let run else { return }
        // Its recorder may be gone by now.
        guard let output = session.outputs[photo.name], !output.isDone else { return await run.camera.giveBack() }
        output.run = run
        Task { await run.takeAll(by: output, on: self) }
    }

    /// Borrows the camera, and sees how it is to be set; `nil` for photos that take it as it is.
    private func borrow(
        _ source: SharedSource,
        for settings: PhotoSettings,
        of client: SessionClient,
        _ cameras: (any CameraLender)?
    ) async throws(CaptureError) -> ShotRun? {
        guard settings.setsCamera else { return nil }
        guard let cameras else {
            throw CaptureError(.invalidArgument, "there is nobody who sets cameras; leave bracket and flash out")
        }
        let camera = try await cameras.lend(source.device, to: client)
        do throws(CaptureError) {
            let plan = try ShotPlan(settings, of: source.device.name, try await camera.controls())
            return ShotRun(plan, camera, source.source)
        } catch {
            await camera.giveBack()
            throw error
        }
    }
}

/// The photos of a session that are asked for and not taken yet.
struct PhotoShots {
    /// At most so many: each has a recorder.
    static let most = 8

    /// What is asked of each, by its name.
    fileprivate var pending: [String: PhotoSettings] = [:]
    fileprivate var last: UInt64 = 0
}

extension Session {
    /// Whether an output of this name is a photo that is being taken.
    func isShot(_ name: String) -> Bool { shots.pending[name] != nil }

    /// The settings of a photo that is being taken; `nil` for any other output.
    func shot(_ name: String) -> PhotoSettings? { shots.pending[name] }

    /// The names of an output's files: one, but for a burst and for companions.
    func fileNames(of output: String) -> [String] {
        (0..<(shots.pending[output]?.fileCount ?? 1)).map { $0 == 0 ? output : "\(output)/\($0 + 1)" }
    }

    /// A name for a photo: no output that a client describes has a dot in its name.
    func beginShot(of output: String, _ settings: PhotoSettings) throws(CaptureError) -> String {
        guard shots.pending.count < PhotoShots.most else {
            throw CaptureError(
                .busy,
                "session \(id) is taking \(PhotoShots.most) photos already; wait until one of them is done"
            )
        }
        shots.last += 1
        let name = "\(output).\(shots.last)"
        shots.pending[name] = settings
        return name
    }

    /// A photo is taken, or will not be.
    func endShot(_ name: String) {
        for file in fileNames(of: name) { files[file] = nil }
        shots.pending[name] = nil
        outputs[name] = nil
    }

    /// Refuses photos, unless it runs.
    fileprivate func checkTakesPhotos() throws(CaptureError) {
        guard state == .running, !isEnding else {
            throw whyNoPhoto(notNow)
        }
    }

    private var notNow: CaptureError {
        let what = state.isFinal ? state.rawValue : doing
        return CaptureError(.wrongState, "session \(id) is \(what), so it takes no photo now")
    }

    /// Why a photo was not taken: its session ended, or it failed for reasons of its own.
    func whyNoPhoto(_ error: CaptureError) -> CaptureError {
        if !isEnding, state == .running || state == .configured { return error }
        if let reason { return reason }
        if let withdrawal { return withdrawal }
        if let loss = inputs.values.lazy.compactMap(\.shared.failure).first { return loss }
        return notNow
    }
}
