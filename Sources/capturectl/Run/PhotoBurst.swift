import CaptureKit

/// Takes consecutive pictures into files with numbers, or into the media library.
struct PhotoBurst {
    private let paths: [String]
    private let settings: PhotoSettings
    private let turn: ConnectionSettings
    private let overwrite: Bool

    init(
        _ place: RecordingPlace,
        count: Int,
        format: String,
        quality: Int,
        turned turn: ConnectionSettings,
        overwrite: Bool
    ) {
        self.turn = turn
        self.overwrite = overwrite
        switch place {
        case .file(let path):
            paths = PhotoBurst.paths(path, count)
            settings = PhotoSettings(format: format, quality: quality, burst: count)
        case .library(let destination):
            paths = []
            settings = PhotoSettings(format: format, quality: quality, burst: count, library: destination)
        }
    }

    /// `a-1.jpg`, `a-2.jpg` for `a.jpg`; as many digits for each as the last one needs.
    static func paths(_ path: String, _ count: Int) -> [String] {
        let suffix = FileFormat.fileExtension(of: path).map { ".\($0)" } ?? ""
        let stem = path.dropLast(suffix.count)
        let digits = "\(count)".count
        return (1...count).map { number in
            let text = "\(number)"
            return "\(stem)-\(String(repeating: "0", count: digits - text.count))\(text)\(suffix)"
        }
    }

    /// Takes them with a camera, or with that of a running session.
    func take(
        with camera: CaptureDeviceInput,
        orOf running: UInt32?,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> TakenPhotos {
        var files: [OutputFile] = []
        for path in paths { files.append(try await Destination.open(path, overwrite: overwrite)) }
        let descriptors = files.map(\.descriptor)
        let task = Task { () -> Result<[CapturedPhoto], CaptureError> in
            do throws(CaptureError) {
                return .success(
                    try await InlineAgent.during(daemon) { () async throws(CaptureError) in
                        try await capture(into: descriptors, with: camera, orOf: running, on: daemon)
                    }
                )
            } catch {
                return .failure(error)
            }
        }
        let interrupts = Interrupts { task.cancel() }
        defer { withExtendedLifetime(interrupts) {} }
        let photos = try await task.value.get()
        for file in files { try file.keep() }
        return TakenPhotos(paths: paths, format: settings.format, photos: photos)
    }

    private func capture(
        into files: [Descriptor],
        with camera: CaptureDeviceInput,
        orOf running: UInt32?,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> [CapturedPhoto] {
        if let running {
            guard let description = try await daemon.sessions().first(where: { $0.id == running })?.description else {
                throw CaptureError(.noSuchSession, "there is no session \(running)")
            }
            let cameras = description.inputs.filter { $0.mediaType == .video }.map(\.name)
            guard let fed = description.connections.first(where: { cameras.contains($0.input) }) else {
                throw CaptureError(.noSuchDevice, "session \(running) has no camera")
            }
            let session = try await CaptureSession.session(running, on: daemon)
            return try await session.capturePhotos(of: fed.output, with: settings, files: files)
        }
        let session = try await CaptureSession(on: daemon)
        let output = PhotoOutput()
        try await session.addInput(camera)
        try await session.addOutput(output)
        try await session.apply(turn, to: output.name)
        try await session.startRunning()
        let photos = try await output.capturePhotos(with: settings, files: files)
        try await session.stopRunning()
        return photos
    }
}

/// A burst that was taken.
struct TakenPhotos {
    /// The paths of the files; none for the media library.
    let paths: [String]
    let format: String
    let photos: [CapturedPhoto]

    private func place(_ index: Int) -> String {
        if index < paths.count { return Printable.text(paths[index]) }
        return photos[index].saved?.asset.map { "in the media library as \(Printable.text($0))" }
            ?? "added to the media library, which this program may not read"
    }

    /// A line for each, for a person.
    var text: String {
        var lines: [String] = []
        for (index, photo) in photos.enumerated() {
            var line = "\(place(index)): \(format), \(Quantities.size(photo.picture.bytes))"
            if index > 0 {
                line += ", after \((photo.time - photos[index - 1].time) / 1_000_000) ms"
                if photo.lostBefore > 0 { line += ", \(Quantities.count(photo.lostBefore, "frame")) lost before it" }
            }
            lines.append(line)
            if let remark = photo.saved?.remark { lines.append("  \(Printable.text(remark, limit: 1000))") }
        }
        return lines.joined(separator: "\n")
    }

    /// The same for a program.
    var json: JSON {
        .array(
            photos.enumerated().map { index, photo in
                var members = [
                    JSON.Member(key: "file", value: JSON(index < paths.count ? paths[index] : nil)),
                    JSON.Member(key: "format", value: JSON(format)),
                    JSON.Member(key: "taken", value: .time(milliseconds: photo.time / 1_000_000)),
                    JSON.Member(key: "lostBefore", value: JSON(photo.lostBefore)),
                    JSON.Member(key: "bytes", value: JSON(photo.picture.bytes)),
                ]
                if paths.isEmpty {
                    members.append(JSON.Member(key: "library", value: SavedPresentation.json(photo.saved)))
                }
                return .object(members)
            }
        )
    }
}
