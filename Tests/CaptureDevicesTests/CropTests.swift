import CaptureCore
import Glibc
import LyingDriver
import Testing

@testable import CaptureDevices

/// The crop of a camera: V4L2's selection rectangle.
@Suite(.timeLimit(.minutes(10))) struct `A camera's crop` {
    private static let bounds = lying_rectangle(left: 0, top: 0, width: 1920, height: 1080)
    private static let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)

    private func camera(_ change: (inout lying_answers) -> Void = { _ in }) throws -> (LyingCamera, V4L2Controls) {
        let liar = try LyingCamera {
            $0.has_crop = 1
            ($0.crop, $0.bounds, $0.standard) = (Self.bounds, Self.bounds, Self.bounds)
            change(&$0)
        }
        return (liar, V4L2Controls(try V4L2Node(path: "/dev/video-lies-\(liar.number)")))
    }

    private func set(_ rectangle: PixelRectangle, of controls: V4L2Controls) throws {
        try controls.set("crop", to: try #require(rectangle.number))
    }

    @Test func `is listed with its bounds, set, and reset`() throws {
        let (_, controls) = try camera { $0.standard = lying_rectangle(left: 10, top: 10, width: 1900, height: 1060) }
        let whole = PixelRectangle(width: 1920, height: 1080)
        let crop = try #require(try controls.list().last)
        #expect(crop.name == "crop" && crop.kind == .rectangle && crop.id == nil && crop.isWritable)
        #expect(crop.rectangle == whole && crop.bounds == whole)
        try set(Self.part, of: controls)
        #expect(try controls.list().last?.rectangle == Self.part)
        let standard = PixelRectangle(left: 10, top: 10, width: 1900, height: 1060)
        #expect(crop.defaultRectangle == standard)
    }

    @Test(arguments: ["0,0,1921x1080", "-1,0,10x10", "1900,0,21x10", "0,0,0x10", "0,0,10x0"])
    func `is refused outside of its bounds before the driver hears of it`(text: String) throws {
        let (liar, controls) = try camera { $0.crop_error = EIO }
        let error = #expect(throws: CaptureError.self) { try set(try #require(PixelRectangle(text)), of: controls) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("within 0,0,1920x1080") == true)
        withExtendedLifetime(liar) {}
    }

    @Test func `is the one that the driver takes instead`() throws {
        let (_, controls) = try camera { $0.taken = lying_rectangle(left: 160, top: 120, width: 648, height: 480) }
        try set(Self.part, of: controls)
        #expect(try controls.list().last?.rectangle == PixelRectangle(left: 160, top: 120, width: 648, height: 480))
    }

    private static let errors: [(Int32, CaptureError.Code, String)] = [
        (EBUSY, .busy, "size of the frames"), (EINVAL, .invalidArgument, "refuses to crop to 160,120,640x480"),
        (ERANGE, .invalidArgument, "refuses"), (ENOTTY, .invalidArgument, "cannot change its crop"),
        (EIO, .inputOutput, "160,120,640x480"), (ENODEV, .deviceLost, "went away"),
    ]

    @Test(arguments: errors)
    func `is refused by the driver with a reason`(errno: Int32, code: CaptureError.Code, words: String) throws {
        let (_, controls) = try camera { $0.crop_error = errno }
        let error = #expect(throws: CaptureError.self) { try set(Self.part, of: controls) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    private static let lies: [lying_rectangle] = [
        lying_rectangle(left: -1, top: 0, width: 10, height: 10),
        lying_rectangle(left: 0, top: 0, width: 0, height: 10),
        lying_rectangle(left: 0, top: 0, width: .max, height: .max),
        lying_rectangle(left: .max, top: .min, width: 10, height: 10),
        lying_rectangle(left: 1900, top: 0, width: 40, height: 10),
    ]

    @Test(arguments: lies.indices)
    func `is not there if the driver's rectangles make no sense`(index: Int) throws {
        let lie = Self.lies[index]
        for change: (inout lying_answers) -> Void in [{ $0.crop = lie }, { $0.standard = lie }] {
            let (_, controls) = try camera(change)
            #expect(try controls.list().isEmpty)
            let error = #expect(throws: CaptureError.self) { try set(Self.part, of: controls) }
            #expect(error?.message.contains("no control 'crop'") == true)
        }
        let (_, controls) = try camera {
            ($0.bounds, $0.crop) = (lie, lying_rectangle(left: 0, top: 0, width: 0, height: 0))
        }
        #expect(try controls.list().isEmpty)
    }

    @Test func `of a driver that takes one outside of the bounds is an error`() throws {
        for lie in Self.lies where lie.width > 0 {
            let (_, controls) = try camera { $0.taken = lie }
            let error = #expect(throws: CaptureError.self) { try set(Self.part, of: controls) }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.contains("outside of its bounds 0,0,1920x1080") == true)
        }
    }

    @Test func `is not there without selection rectangles`() throws {
        let (_, controls) = try camera { $0.has_crop = 0 }
        #expect(try controls.list().isEmpty)
    }

    @Test func `is told when it changes, although V4L2 has no event for it`() async throws {
        let (liar, controls) = try camera()
        let (heard, feed) = AsyncStream<DeviceControl>.makeStream()
        let watch = try controls.watch({ feed.yield($0) }, ended: { feed.finish() })
        try set(Self.part, of: controls)
        var changes = heard.makeAsyncIterator()
        #expect(await changes.next()?.rectangle == Self.part)
        // Another signal at the input.
        liar.say {
            let small = lying_rectangle(left: 0, top: 0, width: 1280, height: 720)
            ($0.crop, $0.bounds, $0.standard) = (small, small, small)
        }
        // One look may fall between the two.
        var bounds: PixelRectangle?
        while bounds != PixelRectangle(width: 1280, height: 720) { bounds = try #require(await changes.next()).bounds }
        liar.unplug()
        #expect(await changes.next() == nil)
        withExtendedLifetime(watch) {}
    }

    @Test func `that is gone ends the watch`() async throws {
        let (liar, controls) = try camera()
        let (heard, feed) = AsyncStream<DeviceControl>.makeStream()
        let watch = try controls.watch({ feed.yield($0) }, ended: { feed.finish() })
        liar.unplug()
        for await _ in heard {}
        withExtendedLifetime(watch) {}
    }
}
