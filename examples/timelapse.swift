// Takes a photo every second, as small as suffices: NAME-1.jpg, NAME-2.jpg and so on.
//
//     swift run --package-path examples timelapse COUNT NAME
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

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[1]), count > 0 else {
    fail("usage: timelapse COUNT NAME", 64)
}

do {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Takes a photo every second"])

    let session = try await CaptureSession()
    let output = PhotoOutput()
    try await session.setPreset(.low)
    try await session.addInput(.camera())
    try await session.addOutput(output)
    try await session.startRunning()

    let start = ContinuousClock.now
    for number in 1...count {
        let file = try OutputFile(creating: "\(CommandLine.arguments[2])-\(number).jpg")
        let photo = try await output.capturePhoto(file: file.descriptor)
        try file.keep()
        print("\(file.path): \(photo.picture.bytes) bytes")
        if number < count { try await Task.sleep(until: start + .seconds(number)) }
    }
    try await session.stopRunning()
} catch let error as CaptureError {
    fail(error.message, error.code.exitCode)
} catch {
    fail("\(error)", 70)
}
