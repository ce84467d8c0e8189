import CaptureCore
import CaptureDevices
import Testing

@testable import CaptureService

/// Which values a profile holds, and which of them a device gets.
struct ProfileValuesTests {
    private func control(_ name: String, flags: Set<DeviceControl.Flag> = []) -> DeviceControl {
        DeviceControl(
            name: name,
            label: name,
            kind: .integer,
            minimum: 0,
            maximum: 100,
            step: 1,
            defaultValue: 50,
            value: 50,
            flags: flags
        )
    }

    @Test(arguments: [
        (DeviceControl.Flag.restricted, CaptureError.Code.notPermitted), (.readOnly, .invalidArgument),
        (.volatile, .invalidArgument), (.inactive, .wrongState),
    ])
    func `a maker's own control and what cannot be written is neither saved nor written`(
        _ flag: DeviceControl.Flag,
        _ code: CaptureError.Code
    ) throws {
        let settings = HeldSettings([control("0x0a046d71", flags: [flag]), control("gain")], refusals: 0)
        #expect(try settings.savable([]) == ["gain": 50])
        let error = #expect(throws: CaptureError.self) { try settings.savable(["0x0a046d71"]) }
        #expect(error?.code == code)
        let faults = try settings.apply(["0x0a046d71": 7, "gain": 8], until: .now + .seconds(60))
        #expect(Set(faults.keys) == ["0x0a046d71"])
        #expect(settings.list().map(\.value) == [50, 8])
    }

    @Test func `a control that only a stream holds is saved`() throws {
        let settings = HeldSettings([control("gain", flags: [.busy])], refusals: 0)
        #expect(try settings.savable([]) == ["gain": 50])
    }

    @Test func `a crop is saved, and the whole picture is not`() throws {
        let whole = PixelRectangle(width: 1920, height: 1080)
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        let crop = try #require(DeviceControl.crop(part, bounds: whole, standard: whole))
        #expect(try HeldSettings([crop], refusals: 0).savable([]) == ["crop": crop.value])
        let all = try #require(DeviceControl.crop(whole, bounds: whole, standard: whole))
        let error = #expect(throws: CaptureError.self) { try HeldSettings([all], refusals: 0).savable([]) }
        #expect(error?.message.contains("no setting to save") == true)
    }

    @Test func `a device that is too slow goes without`() throws {
        let settings = HeldSettings([control("gain")], refusals: 0)
        let faults = try settings.apply(["gain": 8], until: .now - .seconds(1))
        #expect(faults["gain"]?.contains("too long") == true)
        #expect(settings.list().map(\.value) == [50])
    }

    @Test func `what a driver refuses is told`() throws {
        let whole = PixelRectangle(width: 1920, height: 1080)
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        let crop = try #require(DeviceControl.crop(whole, bounds: whole, standard: whole))
        let settings = HeldSettings([crop, control("gain")], refusals: .max)
        let faults = try settings.apply(["crop": try #require(part.number), "gain": 8], until: .now + .seconds(60))
        #expect(faults == ["crop": "it streams"])
        #expect(settings.list().last?.value == 8)
    }
}
