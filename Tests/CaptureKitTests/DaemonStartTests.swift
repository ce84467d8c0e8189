import CaptureBus
import Testing

@testable import CaptureKit

/// What systemd says about the daemon's unit.
struct DaemonStartTests {
    private static func unit(
        _ active: String,
        _ sub: String,
        load: String = "loaded",
        up: UInt64 = 0,
        job: UInt32 = 0
    ) -> [String: BusValue] {
        [
            "LoadState": .string(load), "ActiveState": .string(active), "SubState": .string(sub),
            "ActiveEnterTimestampMonotonic": .uint64(up), "Job": .structure([.uint32(job), .objectPath("/")]),
        ]
    }

    private static func service(began: UInt64 = 0, result: String = "success") -> [String: BusValue] {
        ["Result": .string(result), "ExecMainStartTimestampMonotonic": .uint64(began)]
    }

    @Test func `a unit that was never up and is tried again has failed`() throws {
        let state = try #require(
            UnitState(Self.unit("activating", "auto-restart", up: 5), Self.service(began: 9, result: "exit-code"))
        )
        #expect(state.failure == "failed (exit-code)")
    }

    @Test func `a unit that crashed while it was up is waited for`() throws {
        let state = try #require(
            UnitState(Self.unit("activating", "auto-restart", up: 9), Self.service(began: 5, result: "signal"))
        )
        #expect(state.failure == nil)
    }

    @Test func `a unit that is about to start is waited for`() throws {
        #expect(try #require(UnitState(Self.unit("inactive", "dead", job: 7), Self.service())).failure == nil)
        #expect(try #require(UnitState(Self.unit("activating", "start"), Self.service(began: 9))).failure == nil)
    }

    @Test func `a unit that is masked, missing or down is told as that`() throws {
        func failure(_ unit: [String: BusValue]) throws -> String? {
            try #require(UnitState(unit, Self.service())).failure
        }
        #expect(try failure(Self.unit("inactive", "dead", load: "masked")) == "is masked")
        #expect(try failure(Self.unit("inactive", "dead", load: "not-found")) == "is not installed")
        #expect(try failure(Self.unit("inactive", "dead")) == "ended at once")
    }
}
