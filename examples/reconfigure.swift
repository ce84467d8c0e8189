// Records into one movie, then into another, while the camera keeps running: no frame is lost between them for a restart.
//
//     swift run --package-path examples reconfigure FIRST.mkv SECOND.mkv
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

guard CommandLine.arguments.count == 3 else { fail("usage: reconfigure FIRST.mkv SECOND.mkv", 64) }

do throws(CaptureError) {
    let files = (
        try OutputFile(creating: CommandLine.arguments[1]), try OutputFile(creating: CommandLine.arguments[2])
    )
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Records two short movies"])

    let session = try await CaptureSession()
    try await session.addInput(.camera())
    try await session.addOutput(try MovieFileOutput(file: files.0.descriptor, name: "first"))
    let events = try await session.events()
    try await session.startRunning()
    try files.0.keep()
    try? await Task.sleep(for: .seconds(2))

    // Both changes take effect together, or neither does.
    await session.beginConfiguration()
    try await session.removeOutput("first")
    try await session.addOutput(try MovieFileOutput(file: files.1.descriptor, name: "second"))
    try await session.commitConfiguration()
    try files.1.keep()
    try? await Task.sleep(for: .seconds(2))
    try await session.stopRunning()

    // The events of a session end when it is stopped.
    for await case .finished(let result) in events {
        if let error = result.error { throw error }
        print("\(result.name): \(result.statistics.frames) frames, \(result.statistics.bytes) bytes")
    }
} catch {
    fail(error.message, error.code.exitCode)
}
