import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `The history of a switch` {
    @Test func `has what was turned, and neither what could not be nor what stood so already`() async throws {
        let bus = try PrivateBus()
        let folder = NSTemporaryDirectory() + "switch-history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // It cannot be kept there: off counts all the same, on does not.
        let scene = try await ConsentScene(on: bus, state: folder, switches: SwitchFile(directory: folder + "/absent"))
        let client = try await BusConnection.open(bus.kind)
        for isOn in [false, false, true] {
            let error = await #expect(throws: CaptureError.self) {
                try await client.callDaemon("SetSwitch", "sb", [.string("camera"), .bool(isOn)])
            }
            #expect(error?.code == .inputOutput)
        }
        let entries = try await scene.history.page(HistoryFilter(limit: 10))
        #expect(entries.map(\.kind) == [.setting])
        #expect(entries.first?.message.contains("switched off") == true)
        await scene.stop()
    }

    @Test func `and what the bus shows end where the switch stands, whoever turned it at the same time`() async throws {
        let bus = try PrivateBus()
        let folder = NSTemporaryDirectory() + "switch-history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let scene = try await ConsentScene(on: bus, state: folder, switches: SwitchFile(directory: folder))
        // One each: calls of one connection are answered one after the other.
        var clients: [BusConnection] = []
        for _ in 0..<8 { clients.append(try await BusConnection.open(bus.kind)) }
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, client) in clients.enumerated() {
                    group.addTask {
                        let turn: [BusValue] = [.string("camera"), .bool(number % 2 == 0)]
                        try await client.callDaemon("SetSwitch", "sb", turn)
                    }
                }
                try await group.waitForAll()
            }
            let isOn = await !scene.gate.currentSwitches.isOff(.camera)
            let property = [CaptureNames.authorization, "Switches"].map { BusValue.string($0) }
            let shown = try await clients[0].callDaemon("Get", "ss", property, on: CaptureNames.properties)
            let positions = BusValue.dictionary(
                "sb",
                [BusEntry(.string("camera"), .bool(isOn)), BusEntry(.string("microphone"), .bool(true))]
            )
            #expect(shown.first == .variant(positions))
            let entries = try await scene.history.page(HistoryFilter(limit: 1000)).filter { $0.kind == .setting }
            // It was on at first, and each entry turned it from where the one before had left it.
            let turns = entries.reversed().map { $0.message.contains("switched on") }
            #expect(turns == turns.indices.map { $0 % 2 == 1 })
            #expect(turns.last ?? true == isOn)
        }
        await scene.stop()
    }
}
