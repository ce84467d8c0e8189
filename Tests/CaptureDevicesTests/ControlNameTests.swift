import CaptureCore
import Foundation
import Testing

@testable import CaptureDevices

@Suite struct `A control of V4L2` {
    /// Every control of the kernel's header by number, but for those of radios, tuners and codecs, and of single drivers.
    private func header() throws -> [UInt32: String] {
        let text = try String(contentsOfFile: "/usr/include/linux/v4l2-controls.h", encoding: .utf8)
        var bases: [String: UInt32] = [:]
        var names: [UInt32: String] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split { " \t()".contains($0) }.map(String.init)
            guard words.count >= 3, words[0] == "#define" else { continue }
            let rest = words.dropFirst(2).joined(separator: " ").replacing("+", with: " + ").split(separator: " ")
            if let number = UInt32(rest[0].dropFirst(2), radix: 16), words[1].contains("CTRL_CLASS") {
                bases[words[1]] = number
            } else if rest.count >= 3, rest[1] == "|", let above = bases[String(rest[0])], rest[2].hasPrefix("0x") {
                bases[words[1]] = above | (UInt32(rest[2].dropFirst(2), radix: 16) ?? 0)
            } else if words[1] == "V4L2_CID_USER_BASE" {
                bases[words[1]] = bases["V4L2_CID_BASE"]
            } else if rest.count >= 3, rest[1] == "+", let base = bases[String(rest[0])], let offset = UInt32(rest[2]) {
                guard words[1].hasPrefix("V4L2_CID_"), words[1] != "V4L2_CID_LASTP1" else { continue }
                names[base + offset] = words[1].dropFirst("V4L2_CID_".count).lowercased()
            }
        }
        let left: Set<UInt32> = [0x99, 0x9b, 0xa1, 0xa2, 0xa4]
        return names.filter { !left.contains($0.key >> 16) && $0.key & 0xffff < 0x1000 }
    }

    @Test func `has the name that the kernel's header gives it`() throws {
        let header = try header()
        #expect(header.count > 100)
        for (id, name) in header { #expect(V4L2ControlNames.name(of: id) == name) }
        #expect(V4L2ControlNames.name(of: 0x009a_090a) == "focus_absolute")
    }

    @Test func `without a name has its number`() {
        #expect(V4L2ControlNames.name(of: 0x009a_0999) == "0x009a0999")
        #expect(V4L2ControlNames.name(of: 0x0a04_6d71) == "0x0a046d71")
    }

    @Test(arguments: [
        (0x9a0910, "Privacy", true), (0x9c0909, "Intensity, Indicator", true), (0xa04_6d05, "Light", true),
        (0xa04_6d71, "LED1 Mode", true), (0xa04_6d71, "Privacy Shutter", true), (0xa04_6d71, "Enabled", false),
        (0x9c0901, "LED Mode", false), (0x980900, "Brightness", false),
    ])
    func `that is a shutter or the lamp of a camera in use is never written`(id: UInt32, label: String, isOne: Bool) {
        #expect(V4L2ControlNames.isIndicator(id, label: label) == isOne)
    }

    @Test func `is found by its name, its number and its label`() {
        let control = DeviceControl(
            id: 0x9a0902,
            name: "exposure_absolute",
            label: "Exposure Time, Absolute",
            kind: .integer,
            minimum: 1,
            maximum: 5,
            step: 1,
            defaultValue: 1,
            value: 1
        )
        for name in ["exposure_absolute", "0x009a0902", "exposure_time_absolute"] {
            #expect([control].control(named: name) == control)
        }
        #expect([control].control(named: "exposure") == nil)
    }
}
