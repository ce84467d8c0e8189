// Prints the brightness of each frame of the first camera, without copying a frame.
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
    // In YUYV every other byte is a pixel's brightness.
    try await session.addInput(.camera(request: try VideoFormatRequest(text: "YUYV:640x480")))
    let (values, continuation) = AsyncStream<(UInt64, Int)>.makeStream()
    let frames = FrameBufferOutput { frame in
        // On the output's own thread. Only numbers leave it; the frame stays where the camera wrote it.
        let plane = frame.plane(0)
        var sum = 0
        for index in stride(from: 0, to: plane.count, by: 2) { sum += unsafe Int(plane[index]) }
        // If the camera has overwritten the frame meanwhile, the sum is worth nothing.
        if frame.isIntact { continuation.yield((frame.info.deviceSequence, sum * 2 / max(plane.count, 1))) }
    }
    try await session.addOutput(frames)
    let states = try await session.states()
    Task {
        for await _ in states {}
        continuation.finish()  // the session has ended; stopRunning() throws why
    }
    try await session.startRunning()

    for await (number, brightness) in values.prefix(count) { print("frame \(number): \(brightness) of 255") }
    try await session.stopRunning()
    print("\(frames.missed) frames missed")
} catch {
    fail(error.message, error.code.exitCode)
}
