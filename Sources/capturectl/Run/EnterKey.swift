import CaptureKit
import Dispatch
import Glibc

/// Hears Enter on the terminal that the program reads from, until it is released.
final class EnterKey {
    private let source: any DispatchSourceRead

    /// `nil` if nobody can type: standard input is no terminal.
    init?(_ pressed: @escaping @Sendable () -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler { [source] in
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else {
                // The terminal belongs to another program for now, or Ctrl-D was typed.
                source.suspend()
                nonisolated(unsafe) let source = source
                return DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
                    unsafe source.resume()
                }
            }
            if bytes[..<count].contains(UInt8(ascii: "\n")) { pressed() }
        }
        source.resume()
    }

    deinit { source.cancel() }
}
