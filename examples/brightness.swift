// Prints the brightness of each frame of the first camera, as small grey pictures.
//
//     swift run --package-path examples brightness FRAMES
//
// captured asks the first time: answer in the desktop's dialog, or in a terminal with `capturectl agent`.
import CaptureKit
import Glibc

/// Prints why the program cannot go on, and ends it.
func fail(_ message: String, _ code: Int32) -> Never {
    let line = "\(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

guard CommandLine.arguments.count == 2, let count = Int(CommandLine.arguments[1]), count > 0 else {
    fail("usage: brightness FRAMES", 64)
}

do throws(CaptureError) {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Measures how bright it is"])

    let session = try await CaptureSession()
    try await session.addInput(.camera())
    let (values, continuation) = AsyncStream<(UInt64, Int)>.makeStream()
    // Whatever the camera delivers, the handler gets a byte a pixel.
    let grey = try VideoSettings(pixelFormat: .grey, width: 160)
    let frames = VideoDataOutput(settings: grey) { event in
        // On the output's own thread. Only numbers leave it.
        switch event {
        case .data(let frame):
            let plane = frame.planes[0]
            // A row may have padding behind it.
            let rows = (0..<plane.height).map { $0 * plane.stride }
            let sum = rows.reduce(0) { sum, row in
                unsafe plane.bytes[row..<row + plane.width].reduce(sum) { $0 + Int($1) }
            }
            let brightness = sum / (plane.width * plane.height)
            // A camera of just this format shares its memory, and may have overwritten it.
            if frame.isIntact { continuation.yield((frame.sequence, brightness)) }
        case .dropped: break
        case .ended: continuation.finish()  // the session has ended; stopRunning() throws why
        }
    }
    try await session.addOutput(frames)
    try await session.startRunning()

    for await (number, brightness) in values.prefix(count) { print("frame \(number): \(brightness) of 255") }
    try await session.stopRunning()
    print("\(frames.missed) frames missed")
} catch {
    fail(error.message, error.code.exitCode)
}
