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
    ///   - files: For each picture the file that the client opened, by its number from 1; none for the library.
    /// - Throws: `notPermitted` for another program, and if it may not save into the library; `invalidArgument` for an
    ///   output without a camera, for settings and for files; `busy` if too many photos are asked for; `wrongState` unless
    ///   the session runs; why the session ends, if it does meanwhile.
    public func capturePhoto(
        _ id: UInt32,
        output name: String,
        _ settings: PhotoSettings,
        files: [String: any OpenFile],
        client: SessionClient
    ) async throws(CaptureError) -> String {
        let session = try changeable(id, by: client)
        try session.checkTakesPhotos()
        guard (1...PhotoSettings.longestBurst).contains(settings.burst) else {
            throw CaptureError(
                .invalidArgument,
                "a burst of \(settings.burst) photos is not within 1 to \(PhotoSettings.longestBurst)"
            )
        }
        let wanted = settings.library == nil ? Set((1...settings.burst).map { "\($0)" }) : []
        guard Set(files.keys) == wanted else {
            throw CaptureError(
                .invalidArgument,
                settings.library == nil
                    ? "\(settings.burst) photos came with \(files.count) files; number them from 1"
                    : "photos for the media library take no files"
            )
        }
        let shot = try session.beginShot(of: name, count: settings.burst)
        do throws(CaptureError) {
            try await inTurn(session, for: client) { () throws(CaptureError) in
                try await take(settings.output(named: shot), of: name, files: files, in: session, for: client)
            }
            return shot
        } catch {
            session.endShot(shot)
            throw session.whyNoPhoto(error)
        }
    }

    private func take(
        _ photo: OutputDescription,
        of name: String,
        files: [String: any OpenFile],
        in session: Session,
        for client: SessionClient
    ) async throws(CaptureError) {
        try session.checkTakesPhotos()
        var description = session.description
        guard let whole = description.outputs.first(where: { $0.name == name }) else {
            let known = description.outputs.map(\.name).joined(separator: ", ")
            throw CaptureError(.invalidArgument, "session \(session.id) has no output '\(name)'; it has: \(known)")
        }
        guard let camera = description.inputs(of: name).first(where: { $0.mediaType == .video }) else {
            throw CaptureError(.invalidArgument, "no camera feeds the output '\(name)', so it takes no photo")
        }
        guard !session.disabled.contains(ConnectionDescription(input: camera.name, output: name)) else {
            throw CaptureError(
                .wrongState,
                "the camera is disabled for '\(name)', so it takes no photo there; enable it"
            )
        }
        guard session.inputs[camera.name] != nil else {
            throw CaptureError(.wrongState, "the camera '\(camera.name)' of the output '\(name)' is closed")
        }
        var photo = photo
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
        try sessions.refuseShared(named, beside: session.written, of: session.id, for: client)
        session.files.merge(named) { $1 }
        defer { for name in named.keys { session.files[name] = nil } }
        _ = try await open([], outputs: [photo], of: description, in: session, for: client)
    }
}

/// The photos of a session that are asked for and not taken yet.
struct PhotoShots {
    /// At most so many: each has a recorder.
    static let most = 8

    /// The pictures of each, by its name.
    fileprivate var pending: [String: Int] = [:]
    fileprivate var last: UInt64 = 0
}

extension Session {
    /// Whether an output of this name is a photo that is being taken.
    func isShot(_ name: String) -> Bool { shots.pending[name] != nil }

    /// The names of an output's files: one, but for a burst.
    func fileNames(of output: String) -> [String] {
        (0..<(shots.pending[output] ?? 1)).map { $0 == 0 ? output : "\(output)/\($0 + 1)" }
    }

    /// A name for a photo: no output that a client describes has a dot in its name.
    func beginShot(of output: String, count: Int) throws(CaptureError) -> String {
        guard shots.pending.count < PhotoShots.most else {
            throw CaptureError(
                .busy,
                "session \(id) is taking \(PhotoShots.most) photos already; wait until one of them is done"
            )
        }
        shots.last += 1
        let name = "\(output).\(shots.last)"
        shots.pending[name] = count
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
        if let grant = grants.values.first(where: { !$0.isLive }) { return grant.withdrawal }
        if let loss = inputs.values.lazy.compactMap(\.shared.failure).first { return loss }
        return notNow
    }
}
