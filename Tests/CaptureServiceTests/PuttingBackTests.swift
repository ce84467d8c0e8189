import CaptureCore
import CaptureDevices
import Synchronization
import Testing

@testable import CaptureService

/// Settings whose crop a stream holds for some calls.
final class HeldSettings: DeviceSettings {
    private struct State {
        var controls: [DeviceControl]
        var refusals: Int
        var tries = 0
    }
    private let state: Mutex<State>

    init(_ controls: [DeviceControl], refusals: Int) { state = Mutex(State(controls: controls, refusals: refusals)) }

    var tries: Int { state.withLock { $0.tries } }

    func list() -> [DeviceControl] { state.withLock { $0.controls } }

    func set(_ name: String, to value: Int64) throws(CaptureError) {
        try state.withLock { state throws(CaptureError) in
            guard let index = state.controls.firstIndex(where: { $0.name == name }) else { return }
            if state.controls[index].kind == .rectangle {
                state.tries += 1
                if state.tries <= state.refusals { throw CaptureError(.busy, "it streams") }
            }
            state.controls[index].value = value
        }
    }

    func watch(
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(CaptureError) -> any ControlWatch {
        throw CaptureError(.invalidArgument, "it does not tell")
    }
}

/// Putting back a crop that a stream may hold.
struct PuttingBackTests {
    private let zoom = DeviceControl(
        name: "zoom_absolute",
        label: "Zoom",
        kind: .integer,
        minimum: 100,
        maximum: 500,
        step: 1,
        defaultValue: 100,
        value: 200
    )

    private func settings(refusals: Int) throws -> (HeldSettings, [String: Int64]) {
        let whole = PixelRectangle(width: 1920, height: 1080)
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        let crop = try #require(DeviceControl.crop(part, bounds: whole, standard: whole))
        return (HeldSettings([crop, zoom], refusals: refusals), ["crop": crop.maximum, "zoom_absolute": 100])
    }

    @Test(arguments: [0, 1, 5])
    func `waits until the stream has ended`(refusals: Int) throws {
        let (settings, values) = try settings(refusals: refusals)
        try settings.putBack(values)
        #expect(settings.list().map(\.value) == [values["crop"], 100])
        #expect(settings.tries == refusals + 1)
    }

    @Test func `says so if the stream goes on, and puts back the rest`() throws {
        let (settings, values) = try settings(refusals: .max)
        let error = #expect(throws: CaptureError.self) { try settings.putBack(values) }
        #expect(error?.code == .busy)
        #expect(settings.list().last?.value == 100)
        #expect((2...50).contains(settings.tries))
    }
}
