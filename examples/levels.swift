// Shows how loud the first microphone is, ten times a second.
//
//     swift run --package-path examples levels SECONDS
//
// The samples stay in shared memory: nothing is copied or stored. captured asks the first time: answer in the desktop's
// dialog, or in a terminal with `capturectl agent`.
import CaptureKit
import Glibc
import Synchronization

/// Prints why the program cannot go on, and ends it.
func fail(_ message: String, _ code: Int32) -> Never {
    let line = "\(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

guard CommandLine.arguments.count == 2, let seconds = Int(CommandLine.arguments[1]), seconds > 0 else {
    fail("usage: levels SECONDS", 64)
}

/// The loudest sample since the last line was printed, 0 to 32768.
let loudest = Atomic<Int>(0)

do throws(CaptureError) {
    let daemon = try await CaptureDaemon.shared()
    try await daemon.setUsageDescriptions([.microphone: "Shows how loud it is"])

    let session = try await CaptureSession()
    let format = AudioFormatRequest(sampleFormat: .s16, isExact: true)
    try await session.addInput(.microphone(request: format))
    let samples = AudioDataOutput { event in
        // On the output's own thread, with the 16-bit samples of a few milliseconds.
        guard case .data(let stretch) = event else { return }
        let peak = unsafe stretch.bytes.bindMemory(to: Int16.self).lazy.map { abs(Int($0)) }.max() ?? 0
        if stretch.isIntact { loudest.max(peak, ordering: .relaxed) }
    }
    try await session.addOutput(samples)
    try await session.startRunning()

    for _ in 0..<seconds * 10 {
        try? await Task.sleep(for: .milliseconds(100))
        if let failure = samples.failure { throw failure }
        let peak = max(loudest.exchange(0, ordering: .relaxed), 1)
        let decibels = 20 * log10(Double(peak) / 32768)
        let bar = String(repeating: "#", count: max(0, Int(60 + decibels)))
        print("\(Int(decibels.rounded())) dB \(bar)")
    }
    try await session.stopRunning()
} catch {
    fail(error.message, error.code.exitCode)
}
