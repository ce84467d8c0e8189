import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// The real program at a job to copy or to examine, in its sandbox.
final class ImportRun {
    let socket: PacketSocket
    let process: RecorderProcess
    /// Where its bytes come from.
    let pipe: Descriptor

    init(_ job: RecorderJob, _ file: Descriptor) throws {
        let (here, there) = try PacketSocket.pair()
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw SystemError("make a pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        socket = here
        pipe = Descriptor(owning: ends[0])
        let end = Descriptor(owning: ends[1])
        process = try RecorderProcess(there, RecorderProcess.Limits())
        try here.send(job.text, with: [file, end])
    }

    /// Its bytes, all of them.
    func bytes() throws -> [UInt8] { try Shell.bytes(of: pipe) }

    /// Its answer.
    func report() throws -> ImportReport {
        guard let message = try socket.receive() else { throw CaptureError(.recorderLost, "the helper left") }
        return try ImportReport(text: message.text)
    }

    /// What is wrong with a file.
    static func fault(_ job: RecorderJob, _ file: Descriptor) throws -> CaptureError {
        let run = try ImportRun(job, file)
        _ = try run.bytes()
        guard case .failed(let error) = try run.report() else { throw CaptureError(.internalFault, "it is taken") }
        let code = try run.process.wait()
        guard code == error.code.exitCode else { throw CaptureError(.internalFault, "it ended with \(code)") }
        return error
    }

    /// What a file holds.
    static func examine(
        _ file: MediaFile,
        isWhole: Bool = true
    ) throws -> (media: ExaminedMedia, thumbnails: [[UInt8]]) {
        let run = try ImportRun(.examine(isWhole: isWhole), file.reading)
        var rest = try run.bytes()[...]
        var thumbnails: [[UInt8]] = []
        while !rest.isEmpty {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            thumbnails.append(Array(rest.dropFirst(4).prefix(size)))
            rest = rest.dropFirst(4 + size)
        }
        switch try run.report() {
        case .examined(let media): return (media, thumbnails)
        case .failed(let error): throw error
        case .copied: throw CaptureError(.internalFault, "it copied")
        }
    }
}

/// Files of tests, each made once.
final class MediaFile {
    let path: String

    /// A file of the given bytes, which goes with the object.
    init(_ bytes: [UInt8], _ suffix: String = "bin") throws {
        path = Rig.temporaryPath(suffix)
        let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
        try unsafe bytes.withUnsafeBytes { try unsafe file.write(all: $0) }
    }

    deinit { unsafe unlink(path) }

    var reading: Descriptor { get throws { try Descriptor.open(path, O_RDONLY) } }

    private static let picture = "-f lavfi -i testsrc2=size=640x480 -frames:v 1"
    private static let movie =
        "-f lavfi -i testsrc2=size=320x240:rate=25:duration=3 -f lavfi -i sine=frequency=440:duration=3"
    private static let sound = "-f lavfi -i sine=frequency=440:duration=3"

    /// What ffmpeg makes each file of.
    private static let recipes = [
        "jpeg": "\(picture) -f mjpeg", "png": "\(picture) -f image2", "webp": "\(picture) -c:v libwebp -f webp",
        "tiff": "\(picture) -c:v tiff -f image2",
        "avif": "\(picture) -c:v libaom-av1 -still-picture 1 -cpu-used 8 -f avif",
        "gif": "-f lavfi -i testsrc2=size=640x480:duration=0.2 -f gif",
        "mp4": "\(movie) -c:v libx264 -preset ultrafast -c:a aac -f mp4 -metadata creation_time=2024-05-01T12:30:45Z",
        "fragments": "\(movie) -c:v libx264 -preset ultrafast -c:a aac -movflags frag_keyframe+empty_moov -f mp4",
        "mov": "\(movie) -c:v libx264 -preset ultrafast -c:a aac -f mov",
        "mkv": "\(movie) -c:v libx264 -preset ultrafast -c:a libopus -f matroska",
        "webm": "\(movie) -c:v libvpx -c:a libopus -f webm", "wav": "\(sound) -f wav", "flac": "\(sound) -f flac",
        "opus": "\(sound) -c:a libopus -f ogg", "ogg": "\(sound) -c:a libvorbis -f ogg",
        "m4a": "\(sound) -c:a aac -f ipod",
        "mp3": "\(sound) -c:a libmp3lame -f mp3",
    ]

    private static let known = Mutex<[String: [UInt8]]>([:])

    /// The bytes of a file of some format.
    static func bytes(_ format: String) throws -> [UInt8] {
        guard let recipe = recipes[format] else { throw CaptureError(.usage, "no test file of '\(format)'") }
        if let known = known.withLock({ $0[format] }) { return known }
        let bytes = try made(recipe, named: format)
        known.withLock { $0[format] = bytes }
        return bytes
    }

    /// What ffmpeg makes of some words; in a file, so that it can go back in it.
    static func made(_ recipe: String, named suffix: String) throws -> [UInt8] {
        let path = Rig.temporaryPath(suffix)
        defer { unsafe unlink(path) }
        _ = try Probe.run("ffmpeg -v error -y \(recipe) \(path)")
        return try Shell.bytes(path)
    }

    /// A picture's pixels, three bytes each.
    static func pixels(of image: [UInt8]) throws -> (width: Int, height: Int, bytes: [UInt8]) {
        let file = try MediaFile(image, "jpg")
        let out = Rig.temporaryPath("rgb")
        defer { unsafe unlink(out) }
        _ = try Probe.run("ffmpeg -v error -noautorotate -i \(file.path) -pix_fmt rgb24 -f rawvideo \(out)")
        let sides = try Probe.values(file.path, "-show_entries stream=width,height").compactMap { Int($0) }
        guard sides.count == 2 else { throw CaptureError(.internalFault, "no sides") }
        return (sides[0], sides[1], try Shell.bytes(out))
    }
}
