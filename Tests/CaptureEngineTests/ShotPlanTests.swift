import CaptureCore
import Testing

@testable import CaptureEngine

/// How cameras of several kinds are set for photos.
@Suite struct `A plan of photos` {
    private static func number(
        _ name: String,
        _ value: Int64,
        _ range: ClosedRange<Int64>,
        step: Int64 = 1,
        flags: Set<DeviceControl.Flag> = []
    ) -> DeviceControl {
        DeviceControl(
            name: name,
            label: name,
            kind: .integer,
            minimum: range.lowerBound,
            maximum: range.upperBound,
            step: step,
            defaultValue: value,
            value: value,
            flags: flags
        )
    }

    private static func menu(_ name: String, _ value: Int64, _ choices: [Int64: String]) -> DeviceControl {
        var control = number(name, value, 0...Int64(choices.count))
        (control.kind, control.choices) = (.menu, choices)
        return control
    }

    private static let automatic = menu("exposure_auto", 3, [1: "Manual Mode", 3: "Aperture Priority Mode"])
    private static let manual = menu("exposure_auto", 1, [1: "Manual Mode", 3: "Aperture Priority Mode"])
    private static let time = number("exposure_absolute", 100, 3...2047)
    private static let idleTime = number("exposure_absolute", 100, 3...2047, flags: [.inactive])
    private static let bias = number("auto_exposure_bias", 0, -2000...2000, step: 500)
    private static let menuBias = menu("auto_exposure_bias", 2, [0: "-1000", 1: "-333", 2: "0", 3: "1000"])
    private static let lamp = menu("flash_led_mode", 0, [0: "Off", 1: "Flash", 2: "Torch"])

    private func plan(_ settings: PhotoSettings, _ controls: [DeviceControl]) throws -> ShotPlan {
        try ShotPlan(settings, of: "Camera", controls)
    }

    private func changes(_ bracket: [Double], _ controls: [DeviceControl]) throws -> [[String]] {
        try plan(PhotoSettings(bracket: bracket), controls).steps.map { $0.changes.map { "\($0.name)=\($0.value)" } }
    }

    @Test func `sets the bias of a camera that exposes by itself`() throws {
        let made = try plan(PhotoSettings(bracket: [-1, 0, 1.4]), [Self.automatic, Self.idleTime, Self.bias])
        #expect(
            made.steps.map(\.changes) == [-1000, 0, 1500].map { [CameraChange(name: "auto_exposure_bias", value: $0)] }
        )
        #expect(made.isAutomatic && made.steps.map(\.bias) == [-1000, 0, 1500] && made.isLit == nil)
        let choices = try plan(PhotoSettings(bracket: [-1, -0.3]), [Self.menuBias])
        #expect(choices.steps.map(\.changes) == [0, 1].map { [CameraChange(name: "auto_exposure_bias", value: $0)] })
        #expect(choices.steps.map(\.bias) == [-1000, -333])
    }

    @Test func `sets times of a camera without, or that exposes by hand`() throws {
        let steps = [["exposure_absolute=50"], ["exposure_absolute=100"], ["exposure_absolute=141"]]
        #expect(try changes([-1, 0, 0.5], [Self.manual, Self.time, Self.bias]) == steps)
        let made = try plan(PhotoSettings(bracket: [2]), [Self.automatic, Self.idleTime])
        #expect(!made.isAutomatic && made.steps.map(\.bias) == [2000])
        #expect(
            try changes([2, -1], [Self.automatic, Self.idleTime]) == [
                ["exposure_auto=1", "exposure_absolute=400"], ["exposure_absolute=50"],
            ]
        )
        #expect(try changes([1], [Self.time]) == [["exposure_absolute=200"]])
    }

    @Test(arguments: [
        ([-1.0], [DeviceControl](), "takes no bracket"), ([0], [automatic], "takes no bracket"),
        ([0], [idleTime], "takes no bracket"), ([0], [manual, idleTime], "takes no bracket"),
        ([0, 2.5], [automatic, bias], "-2.0 to 2.0"), ([-6], [manual, time], "3 to 2047"),
        ([5], [manual, time], "3200 times 100 µs"), ([-2], [menuBias], "-1.0 to 1.0"),
    ]) func `is refused for what a camera cannot do`(bracket: [Double], controls: [DeviceControl], words: String) {
        let error = #expect(throws: CaptureError.self) { try plan(PhotoSettings(bracket: bracket), controls) }
        #expect(error?.code == .invalidArgument && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `copes with numbers that no camera has`() throws {
        let endless = Self.number("exposure_absolute", .max, 1 ... .max)
        let error = #expect(throws: CaptureError.self) { try changes([8], [endless]) }
        #expect(error?.code == .invalidArgument)
        let huge = Self.menu("auto_exposure_bias", 0, [0: "-1e300", 1: "1e300"])
        #expect(try plan(PhotoSettings(bracket: [1]), [huge]).steps.allSatisfy { abs($0.bias ?? 0) == 8000 })
    }

    @Test func `lights the lamp once, before the first picture`() throws {
        let lit = CameraChange(name: "flash_led_mode", value: 2)
        let burst = try plan(PhotoSettings(burst: 3, flash: .on), [Self.lamp])
        #expect(burst.steps == [ShotPlan.Step(changes: [lit], pictures: 3)] && burst.isLit == true)
        let bracket = try plan(PhotoSettings(bracket: [0, 1], flash: .on), [Self.manual, Self.time, Self.lamp])
        #expect(bracket.steps.map { $0.changes.contains(lit) } == [true, false] && !bracket.isAutomatic)
        #expect(try plan(PhotoSettings(flash: .off), [Self.manual]).steps.map(\.changes) == [[]])
        for controls in [[], [Self.menu("flash_led_mode", 0, [0: "Off", 1: "Flash"])]] {
            let error = #expect(throws: CaptureError.self) { try plan(PhotoSettings(flash: .on), controls) }
            #expect(error?.message.contains("no lamp") == true)
        }
    }
}
