import CaptureKit
import Testing

@testable import capturectl

struct ControlSettingTests {
    private let controls = [
        DeviceControl(
            name: "brightness",
            label: "Brightness",
            kind: .integer,
            minimum: -64,
            maximum: 64,
            step: 1,
            defaultValue: 0,
            value: 3
        ),
        DeviceControl(
            name: "auto",
            label: "Auto",
            kind: .boolean,
            minimum: 0,
            maximum: 1,
            step: 1,
            defaultValue: 1,
            value: 1
        ),
        DeviceControl(
            name: "power",
            label: "Power",
            kind: .menu,
            minimum: 0,
            maximum: 2,
            step: 1,
            defaultValue: 1,
            value: 1,
            choices: [0: "Disabled", 2: "60 Hz"]
        ),
    ]
    private let whole = PixelRectangle(width: 1920, height: 1080)

    @Test func `a crop is left, top and size, within its bounds`() throws {
        var crop = try #require(DeviceControl.crop(whole, bounds: whole, standard: whole))
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        let setting = try ControlSetting("crop=160,120,640x480", among: [crop])
        #expect(setting.value == part.number)
        for (text, words) in [
            ("crop=160,1440x480", "as in 160,120,640x480"), ("crop=640x480", "as in"), ("crop=", "as in"),
            ("crop=0,0,1921x1080", "within 0,0,1920x1080"), ("crop=0,0,0x0", "within"), ("crop=-1,0,9x9", "within"),
            ("crop=99999999999,0,9x9", "within"),
        ] {
            let error = #expect(throws: CaptureError.self) { try ControlSetting(text, among: [crop]) }
            #expect(error?.code.exitCode == 65)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        crop.value = setting.value
        let table = ControlPresentation.table([crop]).text
        for word in ["160,120,640x480", "within 0,0,1920x1080"] { #expect(table.contains(word)) }
        #expect(ControlPresentation.change(crop, at: "10:00:00") == "10:00:00  crop  160,120,640x480")
        let json = ControlPresentation.json(crop)
        #expect(json["value"]?["left"] == JSON(160) && json["value"]?["height"] == JSON(480))
        #expect(json["bounds"]?["width"] == JSON(1920) && json["default"] == json["bounds"])
        #expect(json["minimum"] == .null)
    }

    @Test(arguments: [
        ("brightness=-10", -10), ("auto=off", 0), ("auto=1", 1), ("power=2", 2), ("power=60 hz", 2),
    ])
    func `a value is understood by its setting's kind`(text: String, value: Int64) throws {
        #expect(try ControlSetting(text, among: controls).value == value)
    }

    @Test(arguments: ["brightness=65", "brightness=x", "brightness=", "auto=2", "power=1", "power=50 hz"])
    func `a value that the setting does not take is told with those that it takes`(text: String) {
        let error = #expect(throws: CaptureError.self) { try ControlSetting(text, among: controls) }
        #expect(error?.code.exitCode == 65)
        #expect(["-64 to 64", "1 or 0", "2 (60 Hz)"].contains { error?.message.contains($0) == true })
    }

    @Test func `an unknown setting is told with those that there are`() {
        let error = #expect(throws: CaptureError.self) { try ControlSetting("colour=1", among: controls) }
        #expect(error?.code.exitCode == 65)
        #expect(error?.message.contains("brightness, auto, power") == true)
    }

    @Test func `a table that is too wide loses what says least, and never the names and values`() {
        let text = ControlPresentation.table(controls).fitted(to: 40).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 })
        for word in ["brightness", "power", "NAME", "VALUE"] { #expect(text.contains(word)) }
        #expect(!text.contains("LABEL"))
    }

    @Test func `a profile has a column and keys, and tells what of it was left out`() throws {
        #expect(!ControlPresentation.table(controls).text.contains("PROFILE"))
        let profile = [ProfileSetting(name: "brightness", value: 17, fault: "it is\u{1B} dark")]
        let lines = ControlPresentation.table(controls, profile).text.split(separator: "\n")
        #expect(lines[0].hasPrefix("NAME") && lines[0].contains("VALUE  PROFILE  RANGE"))
        #expect(try #require(lines.first { $0.hasPrefix("brightness") }).split(separator: " ")[2] == "17")
        let json = controls.map { ControlPresentation.json($0, among: profile) }
        #expect(json[0]["profile"] == JSON(17) && json[1]["profile"] == .null)
        #expect(json[0]["profileFault"] == JSON("it is\u{1B} dark"))
        let fault = try #require(ControlPresentation.fault(of: profile[0]))
        #expect(fault.contains("'brightness' was left out: it is") && !fault.contains("\u{1B}"))
        #expect(ControlPresentation.fault(of: ProfileSetting(name: "auto", value: 1)) == nil)
    }

    @Test func `what a menu stands at, and what disables a setting, are told in words`() {
        var power = controls[2]
        power.value = 2
        power.flags = [.inactive]
        power.unit = "Hz"
        #expect(ControlPresentation.table([power]).text.contains("60 Hz (inactive)"))
        #expect(ControlPresentation.change(power, at: "10:00:00") == "10:00:00  power  2  60 Hz (inactive)")
    }
}
