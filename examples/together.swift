// Prints how bright each frame of the first camera is, and how loud it was meanwhile.
//
//     swift run --package-path examples together FRAMES
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
    fail("usage: together FRAMES", 64)
}

do throws(CaptureError) {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.camera: "Shows how bright it is", .microphone: "Shows how loud it is"])

    // Whatever the devices deliver: a byte a pixel, and 16-bit samples of one channel.
    let pictures = VideoDataOutput(settings: try VideoSettings(pixelFormat: .grey, width: 160))
    let sound = AudioDataOutput(settings: try AudioSettings(sampleFormat: .s16, channels: 1))
    let (lines, continuation) = AsyncStream<String>.makeStream()
    _ = try DataOutputSynchronizer(dataOutputs: [pictures, sound]) { event in
        switch event {
        case .data(let set):
            guard let plane = set.frame(of: pictures)?.planes[0] else { return }
            // A row may have padding behind it.
            let sum = (0..<plane.height).map { $0 * plane.stride }.reduce(0) { sum, row in
                unsafe plane.bytes[row..<row + plane.width].reduce(sum) { $0 + Int($1) }
            }
            let brightness = sum / (plane.width * plane.height)
            let peaks = set.samples(of: sound).map { samples in
                unsafe samples.bytes.bindMemory(to: Int16.self).lazy.map { abs(Int($0)) }.max() ?? 0
            }
            let loudness = peaks.max().map { "peak \($0)" } ?? "no sound: \(set.drop(of: sound)?.rawValue ?? "")"
            continuation.yield("brightness \(brightness), \(loudness)")
        case .dropped: break
        case .ended: continuation.finish()  // the session has ended; stopRunning() throws why
        }
    }

    let session = try await CaptureSession()
    try await session.addInput(.camera())
    try await session.addInput(.microphone())
    try await session.addOutput(pictures)
    try await session.addOutput(sound)
    try await session.startRunning()
    for await line in lines.prefix(count) { print(line) }
    try await session.stopRunning()
} catch {
    fail(error.message, error.code.exitCode)
}
