import Testing

@testable import CaptureKit
@testable import capturectl

struct TableTests {
    @Test(arguments: [200, 80, 60, 40, 20])
    func `a table fits the terminal: first without what matters least, then cut`(width: Int) {
        var table = Table(["ID", .optional("USER"), .name("PROGRAM"), .detail("TIER"), .text("NOTE")])
        let program = "exe:/opt/example/bin/a-tool-of-a-long-name"
        table.add(["1", "ann", program, "claimed", "a long note, 標準カメラ, that goes on"])
        table.add(["20", "bob", "exe:/b", "claimed", ""])
        #expect(table.fitted(to: nil).text == table.text)
        let shown = table.fitted(to: width)
        for line in shown.text.split(separator: "\n") { #expect(TextWidth.of(String(line)) <= width) }
        #expect(!shown.text.contains("claimed"))
        #expect(shown.text.contains("ann") == (width == 200))
        #expect(shown.text.contains(program) == (width >= 60))
        #expect(shown.isCut == (width < 60))
    }

    @Test func `nothing is cut where there is no terminal`() {
        var table = Table(["ID", .text("NOTE")])
        let long = String(repeating: "name ", count: 100) + "end"
        table.add([long, "\u{1B}" + long])
        #expect(table.text.contains(long + "  ?" + long))
        #expect(table.fitted(to: nil).text == table.text)
        #expect(!table.fitted(to: 1000).text.contains("end"))
    }

    @Test func `what no row has takes no room on a terminal`() {
        var table = Table(["ID", "REASON"])
        table.add(["1", ""])
        #expect(table.fitted(to: 80).text == "ID\n 1\n" || table.fitted(to: 80).text == "ID\n1\n")
    }

    @Test(arguments: [60, 80])
    func `the formats of a webcam fit one screen, with every size and rate`(width: Int) {
        let sizes = (1...18).map { $0 * 16 }
        func option(_ format: PixelFormat, _ rates: (Int) -> [UInt32]) -> VideoFormatOption {
            VideoFormatOption(
                pixelFormat: format,
                name: "\(format)",
                sizes: .discrete(
                    sizes.map { size in
                        let intervals = rates(size).map { FrameInterval(framesPerSecond: $0) }
                        return DiscreteSize(width: size * 8, height: size * 6, intervals: .discrete(intervals))
                    }
                )
            )
        }
        let camera = DeviceDescription(
            id: DeviceID(rawValue: "v4l2:usb-046d_HD_Pro_Webcam_C920_12345678-video-index0"),
            mediaType: .video,
            name: "HD Pro Webcam C920",
            aliases: ["/dev/video0"],
            driver: "uvcvideo",
            bus: "usb",
            videoFormats: [
                option(.yuyv) { $0 < 160 ? [30, 24, 20, 15, 10, 5] : [10, 5] },
                option(.mjpeg) { _ in [30, 24, 20, 15, 10, 5] },
            ]
        )
        let lines = FormatPresentation.text(camera, width: width).split(separator: "\n")
        #expect(lines.count < 24)
        for line in lines { #expect(line.count <= width) }
        for size in sizes { #expect(lines.filter { $0.contains("\(size * 8)x\(size * 6)") }.count == 2) }
        #expect(lines.filter { $0.contains("30, 24, 20, 15, 10, 5 fps") }.count == 2)
        #expect(FormatPresentation.text(camera).split(separator: "\n").count == 39)
    }
    @Test func `forty formats with the same sizes, each with rates of its own, fit one screen, too`() {
        let sizes = (1...6).map { number in
            let rates = (1...20).map { FrameInterval(framesPerSecond: UInt32($0 + number)) }
            return DiscreteSize(width: 320 * number, height: 180 * number, intervals: .discrete(rates))
        }
        let formats = (0..<40).map { number in
            VideoFormatOption(
                pixelFormat: PixelFormat(rawValue: UInt32(0x3030_3030 + number)),
                name: "number \(number)",
                sizes: .discrete(sizes)
            )
        }
        let camera = DeviceDescription(
            id: DeviceID(rawValue: "v4l2:platform:vivid-000-video-index0"),
            mediaType: .video,
            name: "vivid",
            aliases: ["/dev/video0"],
            driver: "vivid",
            bus: "platform:vivid-000",
            videoFormats: formats
        )
        let text = FormatPresentation.text(camera, width: 80)
        #expect(text.split(separator: "\n").count < 24)
        #expect(text.contains("6 sizes from 320x180 to 1920x1080, up to 26 fps"))
        for format in formats { #expect(text.contains(format.pixelFormat.description)) }
    }
}
