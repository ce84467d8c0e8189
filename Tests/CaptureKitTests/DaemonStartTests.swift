import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureKit

/// What systemd says about the daemon's unit.
struct DaemonStartTests {
    private static func unit(
        _ active: String,
        _ sub: String,
        load: String = "loaded",
        up: UInt64 = 0,
        job: UInt32 = 0,
        tried: UInt64 = 9
    ) -> [String: BusValue] {
        [
            "LoadState": .string(load), "ActiveState": .string(active), "SubState": .string(sub),
            "ActiveEnterTimestampMonotonic": .uint64(up), "Job": .structure([.uint32(job), .objectPath("/")]),
            "ConditionTimestampMonotonic": .uint64(tried),
        ]
    }

    private static func state(_ unit: [String: BusValue], _ service: [String: BusValue] = service()) throws -> UnitState
    {
        try #require(UnitState(unit, service, since: Timestamp(nanoseconds: 8999)))
    }

    private static func service(began: UInt64 = 0, result: String = "success") -> [String: BusValue] {
        ["Result": .string(result), "ExecMainStartTimestampMonotonic": .uint64(began)]
    }

    @Test func `a unit that was never up and is tried again has failed`() throws {
        let state = try Self.state(
            Self.unit("activating", "auto-restart", up: 5),
            Self.service(began: 9, result: "exit-code")
        )
        #expect(state.failure == "failed (exit-code)")
    }

    @Test func `a unit that crashed while it was up is waited for`() throws {
        let state = try Self.state(
            Self.unit("activating", "auto-restart", up: 9),
            Self.service(began: 5, result: "signal")
        )
        #expect(state.failure == nil)
    }

    @Test func `a unit that is about to start is waited for`() throws {
        #expect(try Self.state(Self.unit("inactive", "dead", job: 7)).failure == nil)
        #expect(try Self.state(Self.unit("activating", "start"), Self.service(began: 9)).failure == nil)
    }

    @Test func `a unit that is down and was not tried since is waited for`() throws {
        #expect(try Self.state(Self.unit("inactive", "dead", tried: 7)).failure == nil)
        #expect(try Self.state(Self.unit("failed", "failed", tried: 7)).failure != nil)
    }

    @Test func `a unit that is masked, missing or down is told as that`() throws {
        func failure(_ unit: [String: BusValue]) throws -> String? {
            try Self.state(unit).failure
        }
        #expect(try failure(Self.unit("inactive", "dead", load: "masked")) == "is masked")
        #expect(try failure(Self.unit("inactive", "dead", load: "not-found")) == "is not installed")
        #expect(try failure(Self.unit("inactive", "dead")) == "ended at once")
    }

    /// What the bus starts hangs the first time, and comes the second.
    @Test(.timeLimit(.minutes(10)))
    func `a start that the bus gives up on is asked for once more`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("start-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            let started = (try? String(contentsOf: folder.appendingPathComponent("started"), encoding: .utf8)) ?? ""
            for process in started.split(separator: "\n").compactMap({ pid_t($0) }) { kill(process, SIGKILL) }
            try? FileManager.default.removeItem(at: folder)
        }
        let name = CaptureNames.service
        let script = """
            echo $$ >>\(folder.path)/started
            mkdir \(folder.path)/once && exec sleep 600
            exec /usr/bin/python3 -c 'import dbus, time
            dbus.bus.BusConnection(dbus.bus.BUS_STARTER).request_name("\(name)"); time.sleep(600)'
            """
        try script.write(to: folder.appendingPathComponent("starts.sh"), atomically: true, encoding: .utf8)
        let service = "[D-BUS Service]\nName=\(name)\nExec=/bin/sh \(folder.path)/starts.sh\n"
        try service.write(to: folder.appendingPathComponent("a.service"), atomically: true, encoding: .utf8)
        let bus = try PrivateBus(
            policy: """
                <busconfig>
                  <servicedir>\(folder.path)</servicedir>
                  <limit name="service_start_timeout">8000</limit>
                  <policy context="default"><allow own="\(name)"/></policy>
                </busconfig>
                """
        )
        let connection = try await bus.connect()
        await #expect(throws: CaptureError.self) { try await DaemonStart(connection: connection, isUnit: false).run() }
        try FileManager.default.removeItem(at: folder.appendingPathComponent("once"))
        try await DaemonStart(connection: connection, isUnit: true).run()
        #expect(FileManager.default.fileExists(atPath: folder.path + "/once"))
    }
}
