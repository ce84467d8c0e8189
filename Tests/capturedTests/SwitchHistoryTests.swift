import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import captured

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
                _ = try await client.call(
                    CaptureNames.service,
                    CaptureNames.root,
                    CaptureNames.authorization,
                    "SetSwitch",
                    signature: "sb",
                    [.string("camera"), .bool(isOn)]
                )
            }
            #expect(error?.code == .inputOutput)
        }
        let entries = try await scene.history.page(HistoryQuery(limit: 10))
        #expect(entries.map(\.kind) == [.setting])
        #expect(entries.first?.message.contains("switched off") == true)
        await scene.stop()
    }
}
