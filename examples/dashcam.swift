// Records without end, in files of so many seconds, and keeps the newest: NAME-0001.mkv, NAME-0002.mkv and so on.
//
//     swift run --package-path examples dashcam NAME.mkv SECONDS KEPT-SECONDS
//
// Ctrl-C ends it. captured asks the first time: answer in the desktop's dialog, or in a terminal with `capturectl agent`.
import CaptureKit
import Dispatch
import Glibc

/// Prints why the program cannot go on, and ends it.
func fail(_ message: String, _ code: Int32) -> Never {
    let line = "\(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let length = Double(arguments[2]), let kept = Double(arguments[3]),
    (0.1..<1e9).contains(length), (0.1..<1e9).contains(kept)
else {
    fail("usage: dashcam NAME.mkv SECONDS KEPT-SECONDS", 64)
}

do {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Records what happens on the road"])

    let files = try SegmentFiles(arguments[1], keeping: .newest(.seconds(kept)))
    let session = try await CaptureSession()
    try await session.addInput(.camera())
    try await session.addOutput(MovieFileOutput(file: files.first, segments: SegmentRule(every: .seconds(length))))

    signal(SIGINT, SIG_IGN)
    let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    interrupt.setEventHandler { Task { try? await session.stop() } }
    interrupt.resume()

    async let made = files.supply(session) { file in
        print("\(file.path): \(file.segment.frames) frames, \(file.segment.bytes) bytes")
        fflush(nil)  // at once, into a pipe, too
    }
    try await session.startRunning()
    print("\(try await made.count) files were recorded")
} catch let error as CaptureError {
    fail(error.message, error.code.exitCode)
} catch {
    fail("\(error)", 70)
}
