import CaptureBus
import Foundation

/// A message bus of the test's own, which ends with it.
final class PrivateBus: Sendable {
    let address: String
    private let daemon: Process
    private let folder: URL

    var kind: BusKind { .address(address) }

    /// - Parameter policy: A file of policies to lay over those of a system bus, which deny method calls.
    init(policy: String? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appendingPathComponent("bus.conf")
        var rules = """
            <policy context="default">
              <allow send_destination="*" eavesdrop="true"/>
              <allow eavesdrop="true"/>
              <allow own="*"/>
              <deny own="org.capturekit.Forbidden"/>
            </policy>
            """
        if let policy {
            let file = folder.appendingPathComponent("policy.conf")
            try policy.write(to: file, atomically: true, encoding: .utf8)
            rules = """
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
                """
        }
        let text = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:dir=\(folder.path)</listen>
              \(rules)
            </busconfig>
            """
        try text.write(to: configuration, atomically: true, encoding: .utf8)
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--config-file=\(configuration.path)", "--nofork", "--nopidfile", "--print-address"]
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
        end()
        try? FileManager.default.removeItem(at: folder)
    }

    func connect() async throws -> BusConnection { try await BusConnection.open(kind) }

    /// Stops the bus, so that it neither reads nor writes. `end` works all the same.
    func stop() { kill(daemon.processIdentifier, SIGSTOP) }

    /// Kills the bus, as a crash would.
    func end() {
        guard daemon.isRunning else { return }
        kill(daemon.processIdentifier, SIGKILL)
    }
}

/// Collects what handlers are told, to be awaited.
final class Collector<Element: Sendable>: Sendable {
    let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ element: Element) { continuation.yield(element) }

    /// The next `count` elements.
    func next(_ count: Int = 1) async -> [Element] {
        var found: [Element] = []
        for await element in stream {
            found.append(element)
            if found.count == count { break }
        }
        return found
    }
}
