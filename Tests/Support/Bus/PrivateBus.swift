public import CaptureBus
import Foundation

/// A message bus of the test's own, which ends with it.
public final class PrivateBus: Sendable {
    /// Where it listens.
    public let address: String
    private let daemon: Process
    private let folder: URL

    /// It as a bus to connect to.
    public var kind: BusKind { .address(address) }

    /// Starts it, and returns when it listens.
    ///
    /// - Parameter policy: A file of policies to lay over those of a system bus, which deny method calls and names; `nil`
    ///   for a session bus, which allows everything.
    public init(policy: String? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString.prefix(8))")
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--nofork", "--nopidfile", "--nosyslog", "--print-address"]
        if let policy {
            let configuration = try PrivateBus.systemConfiguration(policy, in: folder)
            daemon.arguments?.append("--config-file=\(configuration.path)")
        } else {
            daemon.arguments?.append("--session")
        }
        let output = Pipe()
        daemon.standardOutput = output
        try daemon.run()
        // The address is written once the bus listens.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        // The bus says nothing more, and Foundation would keep it open past the end.
        try output.fileHandleForReading.close()
        address = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func systemConfiguration(_ policy: String, in folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("policy.conf")
        try policy.write(to: file, atomically: true, encoding: .utf8)
        let text = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:dir=\(folder.path)</listen>
              <policy context="default">
                <allow user="*"/>
                <deny own="*"/>
                <deny send_type="method_call"/>
                <allow send_type="signal"/>
                <allow send_requested_reply="true" send_type="method_return"/>
                <allow send_requested_reply="true" send_type="error"/>
                <allow receive_type="method_call"/>
                <allow receive_type="method_return"/>
                <allow receive_type="error"/>
                <allow receive_type="signal"/>
                <allow send_destination="org.freedesktop.DBus"/>
              </policy>
              <include>\(file.path)</include>
            </busconfig>
            """
        let configuration = folder.appendingPathComponent("bus.conf")
        try text.write(to: configuration, atomically: true, encoding: .utf8)
        return configuration
    }

    deinit {
        end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A new connection to it.
    public func connect() async throws -> BusConnection { try await BusConnection.open(kind) }

    /// Stops it, so that it neither reads nor writes. `end` works all the same.
    public func stop() { kill(daemon.processIdentifier, SIGSTOP) }

    /// Kills it, as a crash would.
    public func end() {
        guard daemon.isRunning else { return }
        kill(daemon.processIdentifier, SIGKILL)
    }
}
