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

    /// When it was captured, in nanoseconds since 1970.
    public var time: Int64 { picture.time }
    /// In a burst, frames that the camera captured between the photo before and this one, and that are not there.
    public var lostBefore: UInt64 { picture.lostBefore }
}

extension PhotoOutput {
    /// Takes a photo: the next picture that the camera delivers.
    ///
    /// - Parameters:
    ///   - settings: What to make of it. A burst is for `capturePhotos`.
    ///   - file: Open for writing; `nil` for `CapturedPhoto.bytes`, or for the library if the settings say so.
    /// - Throws: As `CaptureSession.capturePhotos`, and `wrongState` before the output is added to a session.
    public func capturePhoto(
        with settings: PhotoSettings = PhotoSettings(),
        file: Descriptor? = nil
    ) async throws(CaptureError) -> CapturedPhoto {
        guard settings.burst == 1 else {
            throw CaptureError(.usage, "a burst of \(settings.burst) is more than a photo; call capturePhotos")
        }
        guard let photo = try await capturePhotos(with: settings, files: file.map { [$0] } ?? []).first else {
            throw CaptureDaemon.malformed("CapturePhoto")
        }
        return photo
    }

    /// Takes a burst: as many consecutive pictures as the settings say.
    ///
    /// - Parameters:
    ///   - settings: What to make of them.
    ///   - files: As many as pictures, open for writing; none for `CapturedPhoto.bytes`, or for the library.
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
    ///   - files: As many as pictures, open for writing; none for `CapturedPhoto.bytes`, or for the library.
    /// - Returns: The photos in the order of their capture.
    /// - Throws: `usage` for settings that cannot be, `wrongState` unless the session runs, and `busy` if it takes eight
    ///   photos already. `revoked`, `switchedOff` or `userAway` if the consent ends first. `timedOut` if the camera
    ///   delivers nothing for ten seconds. `notPermitted` for another program's session. Also why a file or asset could
    ///   not be made.
    public func capturePhotos(
        of output: String = "photo",
        with settings: PhotoSettings = PhotoSettings(),
        files: [Descriptor] = []
    ) async throws(CaptureError) -> [CapturedPhoto] {
        try settings.check(files.count)
        let hub = await made()
        guard let hub, !hub.status.state.isFinal else {
            throw hub?.status.reason
                ?? CaptureError(.wrongState, "the session does not run; start it, then take photos")
        }
        var (sent, targets) = (settings, files)
        var memory: [MemoryFile] = []
        if settings.library != nil {
            try await MediaLibrary(on: daemon).requestSaving()
        } else {
            let own = files.isEmpty ? 0 : ProcessLimits.file
            sent.sizeLimit = [own, settings.sizeLimit].filter { $0 > 0 }.min() ?? 0
            if files.isEmpty {
                memory = try MemoryFile.several(settings.burst)
                targets = memory.map(\.descriptor)
            }
        }
        // Before the call: the end may be told before the call is answered.
        let events = hub.events()
        let numbered = targets.enumerated().map { BusEntry(.string("\($0 + 1)"), .descriptor($1)) }
        let answer = try await hub.call(
            "CapturePhoto",
            [.string(output), sent.busValue, .dictionary("sh", numbered)]
        )
        guard let name = answer.first?.text else { throw CaptureDaemon.malformed("CapturePhoto") }
        for await event in events {
            switch event {
            case .finished(let result) where result.name == name: return try result.photos(memory)
            case .changed(let status) where status.state.isFinal: throw CaptureSession.failure(status)
            default: continue
            }
        }
        throw CaptureError(.dismissed, "cancelled before the photo was complete; it may still be saved")
    }
}

extension PhotoSettings {
    fileprivate func check(_ files: Int) throws(CaptureError) {
        try PhotoOutput.check(format, among: OutputDescription.formats(of: .photo), of: "photo format")
        guard (1...100).contains(quality) else {
            throw CaptureError(.usage, "a quality of \(quality) is out of range: 1 to 100")
        }
        guard (1...PhotoSettings.longestBurst).contains(burst) else {
            throw CaptureError(.usage, "a burst of \(burst) is out of range: 1 to \(PhotoSettings.longestBurst)")
        }
        guard files == 0 || files == burst && library == nil else {
            throw CaptureError(
                .usage,
                library == nil
                    ? "\(burst) photos need as many files, or none; \(files) were given"
                    : "photos for the media library take no files"
            )
        }
    }
}

extension MemoryFile {
    fileprivate static func several(_ count: Int) throws(CaptureError) -> [MemoryFile] {
        do throws(SystemError) {
            return try (0..<count).map { _ throws(SystemError) in try MemoryFile("photo") }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
    }
}

extension OutputResult {
    fileprivate func photos(_ memory: [MemoryFile]) throws(CaptureError) -> [CapturedPhoto] {
        if let error { throw error }
        do throws(SystemError) {
            return try statistics.pictures.enumerated().map { index, picture throws(SystemError) in
                CapturedPhoto(
                    picture: picture,
                    bytes: index < memory.count ? try memory[index].contents() : [],
                    saved: index < savedPictures.count ? savedPictures[index] : nil
                )
            }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
    }
}
