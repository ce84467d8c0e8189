import CaptureKit
import CaptureSystem
import Glibc

// Goes through every typed control that a camera has: reads it, sets it, tries values out of its range, hears of its
// changes, those of another program included, and looks whether it has its value again when the program that set it is
// gone.
//
//     capture-controls-subject CAMERA COMMAND
//
// COMMAND changes a setting of the camera for another program, given a word such as zoom_absolute=200, as
// `v4l2-ctl -d /dev/video0 -c` does. Prints a table, and ends with `N controls, N wrong`.

func measure(_ words: [String]) async throws -> Bool {
    guard words.count == 2 else {
        throw CaptureError(.usage, "usage: capture-controls-subject CAMERA COMMAND")
    }
    let rows = try await Walk.go(words[0], others: words[1])
    let table = [["control", "read", "set", "refused", "event", "restored"]] + rows.map(\.cells)
    let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    for cells in table {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        print(padded.joined(separator: " | "))
    }
    let wrong = rows.count { !$0.isRight }
    print("\(rows.count) controls, \(wrong) wrong")
    return wrong == 0 && !rows.isEmpty
}

StandardDescriptors.fill()
do {
    let isRight = try await measure(Array(CommandLine.arguments.dropFirst()))
    if fflush(nil) != 0 {
        throw CaptureError(.inputOutput, "standard output cannot be written to", errno: errno)
    }
    exit(isRight ? 0 : 1)
} catch let error as CaptureError {
    let text = "capture-controls-subject: \(error.message)\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
    exit(error.code.exitCode)
}
