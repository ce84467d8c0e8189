import CaptureCore
import Foundation
import Synchronization
import Testing

@testable import CaptureService

/// Device profiles on disk.
struct ProfileFileTests {
    private let folder: ProfileFolder
    private let file: ProfileFile

    init() throws {
        folder = try ProfileFolder()
        file = ProfileFile(directory: folder.path)
    }

    private func profile(_ id: String, _ values: [String: Int64]) -> ProfileFile.Profile {
        ProfileFile.Profile(device: DeviceID(rawValue: id), values: values)
    }

    @Test func `what is saved is read again, whatever devices and settings are called`() throws {
        let profiles = [
            profile("v4l2:usb-046d_HD_Webcam-video-index0", ["focus_auto": 0, "0x0a046d71": -3, "crop": .min]),
            profile("v4l2:usb-046d_HD_Webcam-video-index0]\n[end", ["mikró fon=\\": .max]),
            profile("end of: #%41", [" ": 1, ";a": 2, "a[de]": 3]),
        ]
        #expect(try file.save(profiles) == profiles)
        let read = file.load()
        #expect(read.profiles == profiles && read.fault == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/profiles")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try file.save([]) == [])
        #expect(file.load().profiles.isEmpty && file.load().fault == nil)
    }

    @Test func `without a file there are no profiles, and no fault`() {
        #expect(file.load().profiles.isEmpty)
        #expect(file.load().fault == nil)
    }

    @Test(arguments: [
        "", "garbage", "[end]", "[v4l2:a]\nfocus=1\n", "[v4l2:a]\nfocus=1\n[end]\nfocus=1\n", "focus=1\n[end]\n",
        "[v4l2:a]\nfocus=near\n[end]\n", "[v4l2:a]\nfocus=99999999999999999999\n[end]\n", "[v4l2:a]\nfocus=\n[end]\n",
        "[v4l2:a]\nfocus=1\nfocus=2\n[end]\n", "[v4l2:a]\n[v4l2:a]\n[end]\n", "[v4l2:a b]\n[end]\n", "[%zz]\n[end]\n",
        "[v4l2:a]\nfo%4=1\n[end]\n", "[%41]\n[end]\n", "[v4l2:a]\n\0=1\n[end]\n",
        "[v4l2:a]\n" + String(repeating: "# larger than it may be\n", count: 20_000) + "[end]\n",
    ])
    func `a damaged file is no profile, and says so`(_ text: String) throws {
        try folder.write("profiles", text, mode: 0o600)
        let read = file.load()
        #expect(read.profiles.isEmpty)
        #expect(read.fault?.contains(folder.path + "/profiles") == true)
        // The next change begins anew.
        _ = try file.save([profile("v4l2:a", ["focus": 1])])
        #expect(file.load().profiles.count == 1)
    }

    @Test(arguments: [
        ("[v4l2:a]\nfocus=near\n[end]\n", "line 2: not NAME=NUMBER, or the name stands twice"),
        ("[v4l2:a]\nfocus=1\nfocus=2\n[end]\n", "line 3: not NAME=NUMBER, or the name stands twice"),
        ("[v4l2:a]\n[v4l2:a]\n[end]\n", "line 2: not a device's name, or it stands twice"),
        ("[v4l2:a]\n[end]\nfocus=1\n", "line 3: the setting belongs to no device"),
        ("[v4l2:a]\nfocus\n[end]\n", "line 2: 'focus' has no '=', expected KEY=VALUE"),
        ("[v4l2:a]\nfocus=1\n", "it was cut off: [end] is missing at its end"),
    ])
    func `a fault names its line, and what would be right`(_ text: String, _ reason: String) throws {
        try folder.write("profiles", text, mode: 0o600)
        #expect(file.load().fault == "the file of device profiles \(folder.path)/profiles is damaged: \(reason)")
    }

    @Test(arguments: [0o600, 0o666])
    func `a file that cannot be used is set aside before it is saved again`(_ mode: Int) throws {
        let damaged = "[v4l2:b]\nzoom=300\n"
        let lines = Mutex<[String]>([])
        for name in ["profiles.damaged", "profiles.damaged-2"] {
            try folder.write("profiles", damaged, mode: mode)
            let profiles = DeviceProfiles(file) { line in lines.withLock { $0.append(line) } }
            #expect(profiles.fault == file.load().fault)
            try profiles.save(["focus": 1], of: DeviceID(rawValue: "v4l2:a"), isWhole: true)
            #expect(profiles.fault == "")
            try profiles.save(["focus": 2], of: DeviceID(rawValue: "v4l2:a"), isWhole: true)
            #expect(file.load().profiles == [profile("v4l2:a", ["focus": 2])])
            #expect(try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8) == damaged)
            let last = lines.withLock { $0.last }
            #expect(last == "the file of device profiles could not be used, and is now \(folder.path)/\(name)")
        }
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test func `profiles that give way are named`() throws {
        let lines = Mutex<[String]>([])
        let profiles = DeviceProfiles(file) { line in lines.withLock { $0.append(line) } }
        let values = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("setting_\($0)", Int64.max) })
        var count = 0
        while lines.withLock({ $0.isEmpty }), count < 10 {
            try profiles.save(values, of: DeviceID(rawValue: "v4l2:\(count)"), isWhole: true)
            count += 1
        }
        #expect(lines.withLock { $0 } == ["the file of device profiles is full: v4l2:0 lost their profiles"])
        #expect(file.load().profiles.count == count - 1)
    }

    @Test func `a file that others could have written is not believed`() throws {
        _ = try file.save([profile("v4l2:a", ["focus": 1])])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/profiles")
        #expect(file.load().profiles.isEmpty)
        #expect(file.load().fault?.contains("can be written by others") == true)
    }

    @Test func `a write that was cut off leaves the file as it was`() throws {
        _ = try file.save([profile("v4l2:a", ["focus": 1])])
        try folder.write("profiles.new", "[v4l2:a]\nfoc", mode: 0o600)
        #expect(file.load().profiles == [profile("v4l2:a", ["focus": 1])])
        _ = try file.save([profile("v4l2:a", ["focus": 2])])
        #expect(file.load().profiles == [profile("v4l2:a", ["focus": 2])])
    }

    @Test func `the oldest give way when there is no room for all`() throws {
        let values = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("setting_\($0)", Int64.max) })
        let profiles = (0..<10).map { profile("v4l2:\($0)", values) }
        let kept = try file.save(profiles)
        #expect((2..<10).contains(kept.count))
        #expect(kept == Array(profiles.suffix(kept.count)))
        #expect(file.load().profiles == kept)
    }

    @Test func `what cannot be kept is an error`() throws {
        let absent = ProfileFile(directory: folder.path + "/absent")
        let error = #expect(throws: CaptureError.self) { try absent.save([profile("v4l2:a", ["focus": 1])]) }
        #expect(error?.code == .inputOutput)
    }
}
