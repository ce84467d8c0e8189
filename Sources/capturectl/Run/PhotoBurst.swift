import CaptureKit

/// Takes several pictures, or one into two files, or into the media library. Files of several pictures have numbers.
struct PhotoBurst {
    /// Of each picture the file, followed by that of its companion.
    private let paths: [String]
    private let settings: PhotoSettings
    private let turn: ConnectionSettings
    private let overwrite: Bool

    /// - Parameters:
    ///   - companion: The path of the second file, whose format the settings name.
    ///   - hasNumbers: Whether files are numbered: those of a burst are, also if it is of one picture.
    init(
        _ place: RecordingPlace,
        with companion: String?,
        _ settings: PhotoSettings,
        hasNumbers: Bool,
        turned turn: ConnectionSettings,
        overwrite: Bool
    ) throws(CaptureError) {
        self.turn = turn
        self.overwrite = overwrite
        self.settings = settings
        var paths: [String] = []
        if let path = place.path {
            let columns = [path, companion].compactMap(\.self).map { path in
                hasNumbers ? PhotoBurst.paths(path, settings.pictureCount) : [path]
            }
            for index in columns[0].indices { paths += columns.map { $0[index] } }
        }
        self.paths = paths
        guard Set(paths).count == paths.count else {
            throw CaptureError(.usage, "--with: the second file has the name of the first; give it another")
        }
        try settings.check(files: paths.count, .usage)
    }

    /// `a-1.jpg`, `a-2.jpg` for `a.jpg`; as many digits for each as the last one needs.
    static func paths(_ path: String, _ count: Int) -> [String] {
        let suffix = FileFormat.fileExtension(of: path).map { ".\($0)" } ?? ""
        let stem = path.dropLast(suffix.count)
        let digits = "\(count)".count
        return (1...count).map { "\(stem)-\(String($0, digits: digits))\(suffix)" }
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
        let photos = try await Interrupts.cancelling { () async throws(CaptureError) in
            try await InlineAgent.during(daemon) { () async throws(CaptureError) in
                try await capture(into: descriptors, with: camera, orOf: running, on: daemon)
            }
        }
        for file in files { try file.keep() }
        return TakenPhotos(paths: paths, settings: settings, photos: photos)
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
            let cameras = description.inputs.filter(\.mediaType.isFrames).map(\.name)
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

/// Pictures that were taken.
struct TakenPhotos {
    /// Of each picture the file, followed by that of its companion; none for the media library.
    let paths: [String]
    let settings: PhotoSettings
    let photos: [CapturedPhoto]

    private func path(_ index: Int, companion: Bool = false) -> String? {
        let place = index * settings.filesPerPicture + (companion ? 1 : 0)
        return place < paths.count ? paths[place] : nil
    }

    private func place(_ index: Int) -> String {
        if let path = path(index) { return Printable.text(path) }
        return photos[index].saved?.asset.map { "in the media library as \(Printable.text($0))" }
            ?? "added to the media library, which this program may not read"
    }

    /// As in `+1 EV`, `-0.5 EV`, `0 EV`.
    private static func stops(_ bias: Double) -> String {
        let number = Int(exactly: bias).map { "\($0)" } ?? "\(bias)"
        return (bias > 0 ? "+" : "") + number + " EV"
    }

    /// A line for each, for a person.
    var text: String {
        var lines: [String] = []
        for (index, photo) in photos.enumerated() {
            var line = "\(place(index)): \(settings.format), \(Quantities.size(photo.picture.bytes))"
            if settings.embedsCompanion, let inside = settings.companion { line += ", with a \(inside) inside" }
            if let bias = photo.exposureBias { line += ", \(Self.stops(bias))" }
            if index > 0 {
                line += ", after \((photo.time - photos[index - 1].time) / 1_000_000) ms"
                if photo.lostBefore > 0 { line += ", \(Quantities.count(photo.lostBefore, "frame")) lost before it" }
            }
            lines.append(line)
            if let companion = photo.companion, let path = path(index, companion: true) {
                let size = Quantities.size(companion.size)
                lines.append("\(Printable.text(path)): \(companion.format), \(size), of the same frame")
            }
            if let remark = photo.saved?.remark { lines.append("  \(Printable.text(remark, limit: 1000))") }
        }
        return lines.joined(separator: "\n")
    }

    /// The same for a program.
    var json: JSON {
        .array(
            photos.enumerated().map { index, photo in
                [
                    "file": JSON(path(index)), "format": JSON(settings.format),
                    "taken": .time(milliseconds: photo.time / 1_000_000), "lostBefore": JSON(photo.lostBefore),
                    "bytes": JSON(photo.picture.bytes),
                    "exposureBias": photo.exposureBias.map { JSON($0) } ?? .null,
                    "companion": photo.companion.map { companion in
                        [
                            "file": JSON(path(index, companion: true)), "format": JSON(companion.format),
                            "bytes": JSON(companion.size),
                        ]
                    } ?? .null,
                    "library": paths.isEmpty ? SavedPresentation.json(photo.saved) : .null,
                ]
            }
        )
    }
}
