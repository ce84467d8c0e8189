import CaptureKit
import CaptureSystem
import Glibc

// Takes a camera and a microphone, has its consent withdrawn in the middle, and looks whether anything newer reached it:
// again and again, each way of withdrawing in turn.
//
//     capture-revocation-subject CAMERA FORMAT MICROPHONE COUNT FOLDER alone|shared
//
// Prints a line for each thing that was wrong, then `N repetitions, N wrong`.

func measure(_ words: [String]) async throws -> Bool {
    guard words.count == 6, let count = Int(words[3]), count > 0, ["alone", "shared"].contains(words[5]) else {
        throw CaptureError(
            .usage,
            "usage: capture-revocation-subject CAMERA FORMAT MICROPHONE COUNT FOLDER alone|shared"
        )
    }
    let daemon = try await CaptureDaemon.shared()
    let panel = AuthorizationPanel(on: daemon)
    let format = try VideoFormatRequest(text: words[1])
    let subject = Subject(
        framesPerSecond: format.framesPerSecond ?? 30,
        daemon: daemon,
        panel: panel,
        program: try await panel.whoAmI().program,
        camera: format,
        cameraID: words[0],
        microphoneID: words[2],
        folder: words[4],
        isShared: words[5] == "shared"
    )
    var wrong = 0
    // A switch is everybody's: it would end the other program's use, too.
    let ways = Withdrawal.allCases.filter { $0.service == nil || !subject.isShared }
    for number in 0..<count {
        let withdrawal = ways[number % ways.count]
        let found = try await subject.run(withdrawal)
        wrong += found.isEmpty ? 0 : 1
        for what in found { print("repetition \(number), \(withdrawal.rawValue): \(what)") }
        fflush(nil)
    }
    print("\(count) repetitions, \(wrong) wrong")
    return wrong == 0
}

StandardDescriptors.fill()
do {
    let isRight = try await measure(Array(CommandLine.arguments.dropFirst()))
    if fflush(nil) != 0 {
        throw CaptureError(.inputOutput, "standard output cannot be written to", errno: errno)
    }
    exit(isRight ? 0 : 1)
} catch let error as CaptureError {
    let text = "capture-revocation-subject: \(error.message)\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
    exit(error.code.exitCode)
}
