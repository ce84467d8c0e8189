import Authorization
import CLinux
import CaptureCore
import CaptureSystem
import TestSupport
import Testing

@testable import CaptureDevices

private func identity(
    _ links: [String],
    hasSerial: Bool = true,
    bus: String = "usb-0000:00:14.0-1",
    card: String = "HD Webcam",
    index: String = "0"
) -> V4L2Identity {
    V4L2Identity(path: "/dev/video3", links: links, hasSerial: hasSerial, bus: bus, card: card, index: index)
}

@Suite struct `A camera's name` {
    private let byID = "/dev/v4l/by-id/usb-046d_HD_Webcam_123-video-index0"
    private let byPath = "/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0-video-index0"

    @Test func `is udev's by id, else by path, else the bus and which of its nodes it is`() {
        #expect(identity([byPath, byID]).id.rawValue == "v4l2:usb-046d_HD_Webcam_123-video-index0")
        #expect(identity([byPath]).id.rawValue == "v4l2:pci-0000:00:14.0-usb-0:1:1.0-video-index0")
        #expect(identity([], index: "2").id.rawValue == "v4l2:usb-0000:00:14.0-1-video-index2")
        #expect(identity([], bus: "").id.rawValue == "v4l2:video3-video-index0")
    }

    @Test func `is its port without a serial number, also before another one like it comes`() {
        #expect(
            identity([byPath, byID], hasSerial: false).id.rawValue == "v4l2:pci-0000:00:14.0-usb-0:1:1.0-video-index0"
        )
        #expect(identity([byPath, byID], hasSerial: false).aliases == ["/dev/video3", byID, byPath])
    }

    @Test func `may be the node or one of its links too`() {
        #expect(identity([byPath, byID]).aliases == ["/dev/video3", byID, byPath])
    }

    @Test func `is readable once where the driver says it twice`() {
        #expect(identity([], card: "HD Webcam: HD Webcam").name == "HD Webcam")
        #expect(identity([], card: "Laptop: IR Camera").name == "Laptop: IR Camera")
        #expect(identity([], card: "").name == "/dev/video3")
    }

    @Test func `is no link that two nodes claim, whichever came first`() {
        let links = ["/dev/video0": [byPath, byID], "/dev/video1": [byPath], "/dev/vbi0": ["/dev/v4l/by-path/vbi"]]
        #expect(
            UdevRecord.uncontested(links)
                == ["/dev/video0": [byID], "/dev/video1": [], "/dev/vbi0": ["/dev/v4l/by-path/vbi"]]
        )
    }

    @Test func `differs from that of a camera that is just the same`() {
        let twin = DeviceDescription(
            id: DeviceID(rawValue: "v4l2:twin"),
            mediaType: .video,
            name: "Twin",
            aliases: ["/dev/video0"],
            driver: "uvcvideo",
            bus: ""
        )
        var other = twin
        other.aliases = ["/dev/video2"]
        #expect(V4L2Probe.distinct([twin, other]).map(\.id.rawValue) == ["v4l2:twin", "v4l2:twin-video2"])
    }
}

@Suite struct `A node is a camera` {
    private func isCamera(_ flags: Int32..., driver: String = "uvcvideo") -> Bool {
        let capabilities = flags.reduce(0) { $0 | UInt32(bitPattern: $1) }
        return V4L2Node.isCamera(capabilities, driver: driver)
    }

    @Test func `when frames come out of it, single- or multi-planar`() {
        #expect(isCamera(V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_STREAMING))
        #expect(isCamera(V4L2_CAP_VIDEO_CAPTURE_MPLANE, V4L2_CAP_STREAMING))
    }

    @Test func `unless it carries metadata, takes frames, converts them, or senses touch`() {
        #expect(!isCamera(V4L2_CAP_META_CAPTURE, V4L2_CAP_STREAMING))
        #expect(!isCamera(V4L2_CAP_VIDEO_OUTPUT, V4L2_CAP_STREAMING))
        #expect(!isCamera(V4L2_CAP_VIDEO_M2M, V4L2_CAP_STREAMING))
        #expect(!isCamera(V4L2_CAP_VIDEO_CAPTURE_MPLANE, V4L2_CAP_VIDEO_OUTPUT_MPLANE, V4L2_CAP_STREAMING))
        #expect(!isCamera(V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_TOUCH, V4L2_CAP_STREAMING))
        #expect(!isCamera(V4L2_CAP_VIDEO_CAPTURE))
    }

    @Test func `when it is a loopback, which is both ends at once`() {
        #expect(isCamera(V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_VIDEO_OUTPUT, V4L2_CAP_STREAMING, driver: "v4l2 loopback"))
    }
}

@Suite struct `A camera's setting` {
    private let gain = DeviceControl(
        name: "gain",
        label: "Gain",
        kind: .integer,
        minimum: -10,
        maximum: 100,
        step: 5,
        defaultValue: 0,
        value: 0
    )

    @Test(arguments: [
        ("Brightness", "brightness"), ("White Balance, Auto & Preset", "white_balance_auto_preset"),
        ("  Gain 2 (dB)", "gain_2_db"), ("", ""), ("Größe", "gr_e"),
    ])
    func `is named as v4l2-ctl names it`(label: String, name: String) {
        #expect(DeviceControl.name(of: label) == name)
    }

    @Test func `takes values on its steps within its range`() throws {
        for value in [-10, -5, 0, 100] as [Int64] { try gain.check(value) }
    }

    @Test(
        arguments: [
            (-11, "-11 is out of range for 'gain', -10 to 100"), (101, "101 is out of range for 'gain', -10 to 100"),
            (3, "'gain' goes from -10 to 100 in steps of 5"), (.max, "out of range"), (.min, "out of range"),
        ] as [(Int64, String)]
    )
    func `refuses others and says which it takes`(value: Int64, sentence: String) {
        let error = #expect(throws: CaptureError.self) { try gain.check(value) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(sentence) == true)
    }

    @Test func `refuses a choice that a menu lacks`() {
        var menu = gain
        menu.kind = .menu
        menu.choices = [1: "Manual", 3: "Auto"]
        let error = #expect(throws: CaptureError.self) { try menu.check(2) }
        #expect(error?.message == "2 is no choice of 'gain', which are 1 (Manual), 3 (Auto)")
    }
}

@Suite struct `A camera opens` {
    private let device = DeviceDescription(
        id: DeviceID(rawValue: "v4l2:none"),
        mediaType: .video,
        name: "None",
        aliases: ["/dev/video-that-is-not-there"],
        driver: "none",
        bus: "none"
    )

    @Test func `for a live grant for cameras alone`() async throws {
        let microphone = try await TestGrants.microphone()
        #expect(code { _ = try V4L2Camera.open(device, VideoFormatRequest(), grant: microphone) } == .notPermitted)
        let (grant, revoke) = try await TestGrants.revocable(.camera)
        try await revoke()
        #expect(code { _ = try V4L2Camera.open(device, VideoFormatRequest(), grant: grant) } == .revoked)
        #expect(code { _ = try V4L2Controls.open(device, grant: grant) } == .revoked)
    }

    @Test func `only while it is there`() async throws {
        let grant = try await TestGrants.camera()
        #expect(code { _ = try V4L2Camera.open(device, VideoFormatRequest(), grant: grant) } == .noSuchDevice)
    }
}
