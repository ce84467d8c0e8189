import CaptureBus
import Foundation

/// A message bus of the test's own, which ends with it.
final class PrivateBus: Sendable {
    let address: String
    private let daemon: Process

    var kind: BusKind { .address(address) }

    init() throws {
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address"]
        let output = Pipe()
        daemon.standardOutput = output
        try daemon.run()
        // The address is written once the bus listens.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        address = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }
}
