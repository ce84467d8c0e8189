import Glibc
import PickerMessages

/// What connects the window with the agent that started it: standard input and standard output.
@MainActor enum Channel {
    private static var lines = PickerLines()

    /// Calls a handler for each order. The process ends with the agent, and with any other line.
    static func listen(_ take: @escaping @MainActor (PickerOrder) -> Void) {
        Handler.whenReadable(STDIN_FILENO) {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { return }
            // The question does not stand any more: there is nobody left to tell anything.
            guard count > 0 else { exit(0) }
            do throws(PickerLine.Failure) {
                for line in try lines.take(buffer[..<count]) { take(try PickerLine.decode(line)) }
            } catch {
                fail("standard input: \(error)", 65)
            }
        }
    }

    /// Tells the agent something.
    static func send(_ report: PickerReport) {
        var line = PickerLine.encode(report)[...]
        while !line.isEmpty {
            let count = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // If the agent is gone, it needs nothing more. If it cannot be reached, it does not know what became of its
            // question.
            guard count > 0 else { exit(errno == EPIPE ? 0 : 74) }
            line = line.dropFirst(count)
        }
    }

    /// Ends the process with a message for its log.
    static func fail(_ message: String, _ code: Int32) -> Never {
        var text = "captured-picker: \(message)\n"
        // There is nobody to tell where that cannot be written.
        _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(code)
    }
}
