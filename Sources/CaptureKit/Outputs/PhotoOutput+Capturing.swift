import CaptureBus
public import CaptureCore
import CaptureMessages
public import CaptureSystem

/// A photo that was taken.
public struct CapturedPhoto: Hashable, Sendable {
    /// When it was captured, how much was lost before it, and its size.
    public var picture: CapturedPicture
    /// The file's content, if no file was given; empty for one that is in a file or in the media library.
    public var bytes: [UInt8]
    /// The outcome in the media library, for a photo that was saved there.
    public var saved: SavedOutput?
    /// The other file that was made of the same frame, if the settings asked for one; `nil` in the library, where
    /// `EmbeddedJPEG` takes it out of the asset's file.
    public var companion: PhotoCompanion?

    /// In a bracket, how much brighter than usual it is, in EV; darker if negative. `nil` otherwise.
    public var exposureBias: Double?

    /// When it was captured, in nanoseconds since 1970.
    public var time: Int64 { picture.time }
    /// In a burst, frames that the camera captured between the photo before and this one, and that are not there.
    public var lostBefore: UInt64 { picture.lostBefore }
}

/// A second file of a photo, such as the JPEG beside a raw one: made of the same frame, captured at the same time.
public struct PhotoCompanion: Hashable, Sendable {
    /// Its format, as in `PhotoSettings.companion`.
    public var format: String
    /// The size of the file, in bytes.
    public var size: UInt64
    /// The file's content, if no file was given; empty for one that is in a file.
    public var bytes: [UInt8]
}

extension PhotoOutput {
    /// Takes a photo: the next picture that the camera delivers.
    ///
    /// - Parameters:
    ///   - settings: What to make of it. A burst or a bracket is for `capturePhotos`.
    ///   - file: Open for writing; `nil` for `CapturedPhoto.bytes`, or for the library if the settings say so.
    ///   - companion: The file of the companion, open for writing; needed if `file` is given and the settings have one.
    /// - Throws: As `CaptureSession.capturePhotos`, and `wrongState` before the output is added to a session.
    public func capturePhoto(
        with settings: PhotoSettings = PhotoSettings(),
        file: Descriptor? = nil,
        companion: Descriptor? = nil
    ) async throws(CaptureError) -> CapturedPhoto {
        guard settings.pictureCount == 1 else {
            throw CaptureError(.usage, "\(settings.pictureCount) pictures are more than a photo; call capturePhotos")
        }
        let files = [file, companion].compactMap(\.self)
        guard let photo = try await capturePhotos(with: settings, files: files).first else {
            throw CaptureDaemon.malformed("CapturePhoto")
        }
        return photo
    }

    /// Takes a burst: as many consecutive pictures as the settings say. Or a bracket: a picture for each exposure.
    ///
    /// For a bracket the camera is set before each picture. Nobody else changes its settings meanwhile, and they have their
    /// former values when this returns, also if a photo fails or this program ends.
    ///
    /// - Parameters:
    ///   - settings: What to make of them.
    ///   - files: As many as pictures, open for writing, or each followed by the file of its companion; none for
    ///     `CapturedPhoto.bytes`, or for the library.
    /// - Returns: The photos in the order of their capture.
    /// - Throws: As `CaptureSession.capturePhotos`, and `wrongState` before the output is added to a session.
    public func capturePhotos(
        with settings: PhotoSettings,
        files: [Descriptor] = []
    ) async throws(CaptureError) -> [CapturedPhoto] {
        guard let session = place.session else {
            throw CaptureError(.wrongState, "the output '\(name)' belongs to no session; add it to one first")
        }
        return try await session.capturePhotos(of: name, with: settings, files: files)
    }
}

extension CaptureSession {
    /// Takes photos by the camera that feeds an output, which may be a movie, also of a session that was found by its
    /// number. Returns when they are complete. If the library is to take them, the person is asked for that if it was
    /// never decided.
    ///
    /// A task that is cancelled does not wait any longer; the photos are taken.
    ///
    /// - Parameters:
    ///   - output: The output's name.
    ///   - settings: What to make of the pictures.
    ///   - files: As many as pictures, open for writing, or each followed by the file of its companion; none for
    ///     `CapturedPhoto.bytes`, or for the library.
    /// - Returns: The photos in the order of their capture.
    /// - Throws: `usage` for settings that cannot be, `wrongState` unless the session runs, and `busy` if it takes eight
    ///   photos already. For a bracket also `invalidArgument` for a camera that cannot be set or not so far, and `busy` if
    ///   somebody else has locked its settings. For a size also `invalidArgument` if the camera does not have it, and `busy`
    ///   if another session uses the camera. `revoked`, `switchedOff` or `userAway` if the consent ends first. `timedOut` if the camera
    ///   delivers nothing for ten seconds. `notPermitted` for another program's session. Also why a file or asset could
    ///   not be made.
    public func capturePhotos(
        of output: String = "photo",
        with settings: PhotoSettings = PhotoSettings(),
        files: [Descriptor] = []
    ) async throws(CaptureError) -> [CapturedPhoto] {
        try settings.checkForClient(files: files.count)
        let hub = await made()
        guard let hub, !hub.status.state.isFinal else {
            throw hub?.status.reason
                ?? CaptureError(.wrongState, "the session does not run; start it, then take photos")
        }
        var (sent, targets) = (settings, files)
        var memory: [MemoryFile] = []
        if settings.library != nil {
            if question == nil { try await MediaLibrary(on: daemon).requestSaving() }
        } else {
            let own = files.isEmpty ? 0 : ProcessLimits.file
            sent.sizeLimit = [own, settings.sizeLimit].filter { $0 > 0 }.min() ?? 0
            if files.isEmpty {
                for _ in 0..<settings.fileCount {
                    memory.append(try CaptureError.wrap(.inputOutput, try MemoryFile("photo")))
                }
                targets = memory.map(\.descriptor)
            }
        }
        // Before the call: the end may be told before the call is answered.
        let events = hub.events()
        let numbered = targets.enumerated().map { BusEntry(.string("\($0 + 1)"), .descriptor($1)) }
        let answer = try await hub.call(
            "CapturePhoto",
            [.string(output), sent.busValue, .dictionary("sh", numbered)],
            timeout: SessionHub.patience
        )
        guard let name = answer.first?.text else { throw CaptureDaemon.malformed("CapturePhoto") }
        for await event in events {
            switch event {
            case .finished(let result) where result.name == name: return try result.photos(of: settings, memory)
            case .changed(let status) where status.state.isFinal: throw CaptureSession.failure(status)
            default: continue
            }
        }
        throw CaptureError(.dismissed, "cancelled before the photo was complete; it may still be saved")
    }
}

extension PhotoSettings {
    fileprivate func checkForClient(files: Int) throws(CaptureError) {
        try PhotoOutput.check(format, among: OutputDescription.formats(of: .photo), of: "photo format")
        try check(files: files == 0 && library == nil ? fileCount : files, .usage)
    }
}

extension OutputResult {
    /// The photos of a call, whose files are told of one by one.
    fileprivate func photos(of settings: PhotoSettings, _ memory: [MemoryFile]) throws(CaptureError) -> [CapturedPhoto]
    {
        if let error { throw error }
        let step = settings.filesPerPicture
        let pictures = statistics.pictures
        func content(_ index: Int) throws(CaptureError) -> [UInt8] {
            index < memory.count ? try CaptureError.wrap(.inputOutput, try memory[index].contents()) : []
        }
        var photos: [CapturedPhoto] = []
        for index in stride(from: 0, to: pictures.count, by: step) {
            var photo = CapturedPhoto(
                picture: pictures[index],
                bytes: try content(index),
                saved: index < savedPictures.count ? savedPictures[index] : nil
            )
            if let format = settings.companion, step == 2, index + 1 < pictures.count {
                photo.companion = PhotoCompanion(
                    format: format,
                    size: pictures[index + 1].bytes,
                    bytes: try content(index + 1)
                )
            }
            if photos.count < settings.bracket.count { photo.exposureBias = settings.bracket[photos.count] }
            photos.append(photo)
        }
        return photos
    }
}
