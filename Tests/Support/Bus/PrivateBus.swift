public import CaptureBus
import Foundation

/// A message bus of the test's own, which ends with it.
public final class PrivateBus: Sendable {
    /// Where it listens.
    public let address: String
    private let daemon: Process

    /// It as a bus to connect to.
    public var kind: BusKind { .address(address) }

    /// Starts it, and returns when it listens.
    public init() throws {
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address"]
        let output = Pipe()
        daemon.standardOutput = output
        try daemon.run()
        // The address is written once the bus listens.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        // The bus says nothing more, and Foundation would keep it open past the end.
        try output.fileHandleForReading.close()
        address = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        kill(daemon.processIdentifier, SIGKILL)
    }
}
