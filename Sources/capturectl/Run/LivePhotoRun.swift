import CaptureKit
import CaptureSystem

/// Takes a photo with the seconds around it, into a file that has both or into the media library.
struct LivePhotoRun {
    let place: RecordingPlace
    let quality: Int
    let overwrite: Bool

    /// Takes it with a camera, and prints what it is.
    func take(with camera: CaptureDeviceInput, on daemon: CaptureDaemon, json: Bool) async throws(CaptureError) {
        var target: OutputFile?
        if let path = place.path { target = try await Destination.open(path, overwrite: overwrite) }
        let task = Task { () -> Result<LivePhoto, CaptureError> in
            do throws(CaptureError) {
                return .success(
                    try await InlineAgent.during(daemon) { () async throws(CaptureError) in
                        try await capture(camera, daemon)
                    }
                )
            } catch {
                return .failure(error)
            }
        }
        let interrupts = Interrupts { task.cancel() }
        defer { withExtendedLifetime(interrupts) {} }
        let photo = try await task.value.get()
        let bytes = try photo.file
        var asset: String?
        if let target {
            do throws(CaptureError) {
                try Self.write(bytes, to: target.descriptor)
            } catch {
                throw CaptureError(error.code, "\(Printable.text(target.path)): \(error.message)")
            }
            try target.keep()
        } else if case .library(let destination) = place {
            asset = try await save(bytes, destination, on: daemon)
        }
        report(photo, bytes.count, asset, json)
    }

    private func capture(_ camera: CaptureDeviceInput, _ daemon: CaptureDaemon) async throws(CaptureError) -> LivePhoto
    {
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(camera)
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
        let photo: MemoryFile
        do throws(SystemError) {
            photo = try MemoryFile("live-photo")
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        try Self.write(bytes, to: photo.descriptor)
        let facts = AssetFacts(name: destination.name.isEmpty ? nil : destination.name)
        return try await InlineAgent.during(daemon) { () async throws(CaptureError) in
            try await MediaLibrary(on: daemon).add(photo.descriptor, facts)
        }
    }

    private static func write(_ bytes: [UInt8], to file: Descriptor) throws(CaptureError) {
        do throws(SystemError) {
            try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(SystemError) in
                try unsafe file.write(all: UnsafeRawBufferPointer(bytes))
            }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
    }

    private func report(_ photo: LivePhoto, _ bytes: Int, _ asset: String?, _ json: Bool) {
        let still = photo.stillTime / .seconds(1)
        if json {
            var members = [
                JSON.Member(key: "file", value: JSON(place.path)), JSON.Member(key: "format", value: "jpeg"),
                JSON.Member(key: "taken", value: .time(milliseconds: photo.photo.time / 1_000_000)),
                JSON.Member(key: "bytes", value: JSON(bytes)),
                JSON.Member(key: "movie", value: ["bytes": JSON(photo.movie.count), "stillTime": JSON(still)]),
            ]
            if place.path == nil { members.append(JSON.Member(key: "library", value: ["id": JSON(asset)])) }
            return Output.print(.object(members))
        }
        let name =
            place.path.map { Printable.text($0) } ?? asset.map { "in the media library as \(Printable.text($0))" }
            ?? "added to the media library, which this program may not read"
        let movie = "a movie of \(Quantities.size(UInt64(photo.movie.count))) behind it"
        Output.note("\(name): jpeg, \(Quantities.size(UInt64(bytes))), with \(movie)")
    }
}
