import CaptureKit
import CaptureSystem

/// Takes a photo with the seconds around it, into a file that has both or into the media library.
struct LivePhotoRun {
    let place: RecordingPlace
    let quality: Int
    let overwrite: Bool

    /// Takes it with a camera, and perhaps a microphone, and prints what it is.
    func take(with inputs: [CaptureDeviceInput], on daemon: CaptureDaemon, json: Bool) async throws(CaptureError) {
        var target: OutputFile?
        if let path = place.path { target = try await Destination.open(path, overwrite: overwrite) }
        let photo = try await Interrupts.cancelling { () async throws(CaptureError) in
            try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await capture(inputs, daemon) }
        }
        let bytes = try photo.file
        var asset: String?
        if let target {
            do throws(CaptureError) {
                try CaptureError.wrap(.inputOutput, try target.descriptor.write(all: bytes))
            } catch {
                throw CaptureError(error.code, "\(Printable.text(target.path)): \(error.message)")
            }
            try target.keep()
        } else if case .library(let destination) = place {
            asset = try await save(bytes, destination, on: daemon)
        }
        report(photo, bytes.count, asset, json)
    }

    private func capture(_ inputs: [CaptureDeviceInput], _ daemon: CaptureDaemon) async throws(CaptureError)
        -> LivePhoto
    {
        let session = try await CaptureSession(on: daemon)
        for input in inputs { try await session.addInput(input) }
        let live = try await LivePhotos(session)
        try await session.startRunning()
        try await live.whenReady()
        let photo = try await live.capture(quality: quality)
        try await session.stopRunning()
        return photo
    }

    private func save(_ bytes: [UInt8], _ destination: LibraryDestination, on daemon: CaptureDaemon)
        async throws(CaptureError) -> String?
    {
        let photo = try CaptureError.wrap(.inputOutput, try MemoryFile("live-photo"))
        try CaptureError.wrap(.inputOutput, try photo.descriptor.write(all: bytes))
        let facts = AssetFacts(name: destination.name.isEmpty ? nil : destination.name)
        return try await InlineAgent.during(daemon) { () async throws(CaptureError) in
            try await MediaLibrary(on: daemon).add(photo.descriptor, facts)
        }
    }

    private func report(_ photo: LivePhoto, _ bytes: Int, _ asset: String?, _ json: Bool) {
        let still = photo.stillTime / .seconds(1)
        if json {
            return Output.print([
                "file": JSON(place.path), "format": "jpeg",
                "taken": .time(milliseconds: photo.photo.time / 1_000_000), "bytes": JSON(bytes),
                "movie": [
                    "bytes": JSON(photo.movie.count), "stillTime": JSON(still), "frames": JSON(photo.frames),
                    "missedFrames": JSON(photo.missedFrames),
                ],
                "library": place.path == nil ? ["id": JSON(asset)] : .null,
            ])
        }
        let name =
            place.path.map { Printable.text($0) } ?? asset.map { "in the media library as \(Printable.text($0))" }
            ?? "added to the media library, which this program may not read"
        let movie = "a movie of \(Quantities.size(UInt64(photo.movie.count))) behind it"
        var text = "\(name): jpeg, \(Quantities.size(UInt64(bytes))), with \(movie)"
        if photo.missedFrames > 0 {
            let all = photo.frames + photo.missedFrames
            text += ", which lacks \(photo.missedFrames) of \(all) pictures: the machine is too slow"
        }
        Output.note(text)
    }
}
