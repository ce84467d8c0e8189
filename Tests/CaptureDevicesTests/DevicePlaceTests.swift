import CLinux
import CaptureCore
import Foundation
import Testing

@testable import CaptureDevices

/// Folders like those of sysfs, for a test.
private struct Devices: ~Copyable {
    let root = NSTemporaryDirectory() + "devices-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// A device, with files by their paths below the root.
    func place(_ device: String, _ files: [String: String] = [:]) throws -> DevicePlace {
        try FileManager.default.createDirectory(atPath: "\(root)/\(device)", withIntermediateDirectories: true)
        for (name, text) in files {
            let path = "\(root)/\(name)"
            let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
            try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
            try Data("\(text)\n".utf8).write(to: URL(fileURLWithPath: path))
        }
        let link = "\(root)-link"
        defer { try? FileManager.default.removeItem(atPath: link) }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(root)/\(device)")
        return DevicePlace(at: link, below: root)
    }
}

@Suite struct `The place of a device` {
    private let usb = "pci0000:00/0000:00:14.0/usb1/1-2/1-2.1"

    @Test func `is outside where USB says that it can be removed, or says nothing`() throws {
        for word in ["removable", "unknown"] {
            let devices = Devices()
            let place = try devices.place(
                "\(usb)/1-2.1:1.0/video4linux/video0",
                [
                    "\(usb)/removable": word, "\(usb)/devpath": "2.1", "\(usb)/physical_location/panel": "back",
                    "pci0000:00/0000:00:14.0/usb1/1-2/devpath": "2",
                    "pci0000:00/0000:00:14.0/usb1/removable": "fixed",
                ]
            )
            #expect(place.type == .external)
            // The panel is that of the socket.
            #expect(place.position == .external)
            #expect(place.portName == "port 2.1")
        }
    }

    @Test(arguments: [
        ("front", DevicePosition.front), ("back", .back), ("unknown", .unspecified), ("top", .unspecified),
    ])
    func `is the panel of what is fixed in the case`(panel: String, position: DevicePosition) throws {
        let devices = Devices()
        let place = try devices.place(
            "\(usb)/1-2.1:1.0/video4linux/video0",
            ["\(usb)/removable": "fixed", "\(usb)/devpath": "2.1", "\(usb)/physical_location/panel": panel]
        )
        #expect(place.type == .builtIn)
        #expect(place.position == position)
    }

    @Test func `is in the machine for a card, outside for one on a cable, and nowhere for software`() throws {
        let devices = Devices()
        let card = "pci0000:00/0000:00:1f.3"
        #expect(try devices.place("\(card)/sound/card0", ["\(card)/removable": "fixed"]).type == .builtIn)
        let cable = "pci0000:00/0000:03:00.0"
        #expect(try devices.place("\(cable)/sound/card1", ["\(cable)/removable": "removable"]).type == .external)
        #expect(try devices.place("platform/snd_aloop.0/sound/card2").type == .virtual)
        #expect(try devices.place("platform/vivid.1/video4linux/video3").type == .virtual)
        #expect(try devices.place("platform/3f801000.csi/video4linux/video0").type == .builtIn)
        #expect(try devices.place("virtual/video4linux/video8").type == .virtual)
        #expect(DevicePlace(at: "\(devices.root)/nothing", below: devices.root) == DevicePlace())
    }

    @Test func `follows what udev and the driver say of a camera`() {
        func place(_ type: DeviceType, isCable: Bool = false, orientation: Int32 = -1, _ direction: String? = nil)
            -> DevicePlace
        {
            var place = DevicePlace()
            place.type = type
            place.take(isCable: isCable, orientation: orientation, direction: direction)
            return place
        }
        #expect(place(.builtIn, orientation: V4L2_CAMERA_ORIENTATION_FRONT).position == .front)
        #expect(place(.builtIn, orientation: V4L2_CAMERA_ORIENTATION_BACK).position == .back)
        #expect(place(.builtIn, orientation: V4L2_CAMERA_ORIENTATION_EXTERNAL).type == .external)
        #expect(place(.builtIn, orientation: V4L2_CAMERA_ORIENTATION_FRONT, "rear").position == .back)
        #expect(place(.builtIn, isCable: true).type == .captureCard)
        #expect(place(.virtual, isCable: true, orientation: V4L2_CAMERA_ORIENTATION_FRONT, "front").type == .virtual)
        #expect(place(.virtual, orientation: V4L2_CAMERA_ORIENTATION_FRONT, "front").position == .unspecified)
    }
}

@Suite struct `Names of devices` {
    private func names(_ devices: [(name: String, marks: [String?])]) -> [String] {
        let described = devices.enumerated().map { number, device in
            DeviceDescription(
                id: DeviceID(rawValue: "x:\(number)"),
                mediaType: .video,
                name: device.name,
                aliases: [],
                driver: "",
                bus: ""
            )
        }
        return DevicePlace.toldApart(described, by: devices.map(\.marks)).map(\.name)
    }

    @Test func `stay as they are while they differ`() {
        #expect(names([("A", ["port 1", "video0"]), ("B", ["port 1", "video2"])]) == ["A", "B"])
        #expect(names([]) == [])
    }

    @Test func `of equal devices have the port, or else what differs`() {
        #expect(
            names([("A", ["port 1", "video0"]), ("B", [nil, "video1"]), ("A", ["port 2.1", "video2"])])
                == ["A (port 1)", "B", "A (port 2.1)"]
        )
        // Two nodes of one camera share its port, and software has no port.
        #expect(
            names([("A", ["port 1", "video0"]), ("A", ["port 1", "video2"]), ("A", [nil, "video4"])])
                == ["A (video0)", "A (video2)", "A (video4)"]
        )
        #expect(names([("A", [nil, "video0"]), ("A", ["port 1", "video2"])]) == ["A (video0)", "A (video2)"])
    }
}
