// Records a movie, and notes in it whenever it gets bright: a track of the movie has the brightness, at the frame's time.
//
//     swift run --package-path examples annotate MOVIE.mkv NOTES
//
// It ends after so many notes. captured asks the first time: answer in the desktop's dialog, or in a terminal with
// `capturectl agent`.
import CaptureKit
import Glibc

/// Prints why the program cannot go on, and ends it.
func fail(_ message: String, _ code: Int32) -> Never {
    let line = "\(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]), count > 0 else {
    fail("usage: annotate MOVIE.mkv NOTES", 64)
}

do throws(CaptureError) {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Records, and notes when it gets bright"])

    let file = try OutputFile(creating: CommandLine.arguments[1])
    let (values, continuation) = AsyncStream<(Timestamp, Int)>.makeStream()
    let small = try VideoSettings(pixelFormat: .grey, width: 64)
    let frames = VideoDataOutput(settings: small) { event in
        switch event {
        case .data(let frame):
            let plane = frame.planes[0]
            let rows = (0..<plane.height).map { $0 * plane.stride }
            let sum = rows.reduce(0) { sum, row in
                unsafe plane.bytes[row..<row + plane.width].reduce(sum) { $0 + Int($1) }
            }
            continuation.yield((frame.time, sum / (plane.width * plane.height)))
        case .dropped: break
        case .ended: continuation.finish()  // the session has ended; stopRunning() throws why
        }
    }
    let session = try await CaptureSession()
    try await session.addInput(.camera())
    try await session.addOutput(frames)
    try await session.addOutput(MovieFileOutput(file: file.descriptor, hasMetadata: true))
    try await session.startRunning()

    var (noted, wasBright) = (0, true)
    for await (time, brightness) in values {
        let isBright = brightness > 150
        defer { wasBright = isBright }
        guard isBright, !wasBright else { continue }
        try await session.append([TimedMetadata(["brightness": .integer(Int64(brightness))], at: time)])
        noted += 1
        print("note \(noted): \(brightness) of 255")
        if noted == count { break }
    }
    try await session.stopRunning()
    try file.keep()
} catch {
    fail(error.message, error.code.exitCode)
}
