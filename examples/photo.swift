// Takes a photo with the first camera, as large as the camera can.
//
//     swift run --package-path examples photo FILE.jpg
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

guard CommandLine.arguments.count == 2 else { fail("usage: photo FILE.jpg", 64) }

do throws(CaptureError) {
    // Has no name before keep(), so a photo that fails leaves nothing behind.
    let file = try OutputFile(creating: CommandLine.arguments[1])
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Takes one photo"])

    let session = try await CaptureSession()
    try await session.setPreset(.photo)
    try await session.addInput(.camera())
    try await session.addOutput(try PhotoOutput(file: file.descriptor))
    let events = try await session.events()
    try await session.startRunning()

    // After its one picture the output is finished, and with its last output the session.
    for await case .finished(let result) in events {
        if let error = result.error { throw error }
        try file.keep()
        print("\(file.path): \(result.statistics.bytes) bytes")
    }
    try await session.stopRunning()  // throws if it ended before there was a picture
} catch {
    fail(error.message, error.code.exitCode)
}
