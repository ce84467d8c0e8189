import CaptureCore
import Testing

struct PixelRectangleTests {
    private let sensor = PixelRectangle(width: 1920, height: 1080)

    @Test(arguments: [
        PixelRectangle(left: 160, top: 120, width: 640, height: 480), PixelRectangle(width: 0, height: 0),
        PixelRectangle(left: -1, top: -32768, width: 65535, height: 1),
        PixelRectangle(left: 32767, width: 1, height: 65535),
    ])
    func `a rectangle is one number and back, and a text and back`(rectangle: PixelRectangle) throws {
        #expect(PixelRectangle(number: try #require(rectangle.number)) == rectangle)
        #expect(PixelRectangle(rectangle.description) == rectangle)
    }

    @Test func `other programs find left, top, width and height in the number`() {
        #expect(PixelRectangle(left: 160, top: -2, width: 640, height: 480).number == 0x00a0_fffe_0280_01e0)
    }

    @Test(arguments: [
        PixelRectangle(left: 32768, width: 1, height: 1), PixelRectangle(top: -32769, width: 1, height: 1),
        PixelRectangle(width: 65536, height: 1), PixelRectangle(width: 1, height: -1),
        PixelRectangle(left: .max, top: .min, width: .max, height: .max),
    ])
    func `a rectangle that no driver has is no number, and lies in nothing`(rectangle: PixelRectangle) {
        #expect(rectangle.number == nil)
        #expect(!sensor.contains(rectangle) && !rectangle.contains(sensor))
    }

    @Test(arguments: [
        ("0,0,1920x1080", true), ("1919,1079,1x1", true), ("0,0,1921x1080", false), ("1,0,1920x1080", false),
        ("-1,0,10x10", false), ("0,-1,10x10", false), ("10,10,0x10", false), ("10,10,10x0", false),
        ("1920,0,1x1", false), ("0,1000,10x81", false),
    ])
    func `a rectangle lies in the bounds with all of it, or not at all`(text: String, isInside: Bool) throws {
        #expect(sensor.contains(try #require(PixelRectangle(text))) == isInside)
    }

    @Test(arguments: [
        "", "640x480", "1,2", "1,2,3,4", "1,2,3x", "1,2,x4", "1,2,3x4x5", "a,2,3x4", "1,2,3x4 ", "1, 2,3x4",
    ])
    func `does not read a text of another form`(text: String) { #expect(PixelRectangle(text) == nil) }

    @Test(arguments: ["0,0,0x0", "5,5,10x11", "4,5,1x1"])
    func `a crop that does not lie in its bounds is no control`(text: String) throws {
        let bounds = PixelRectangle(left: 5, top: 5, width: 10, height: 10)
        let other = try #require(PixelRectangle(text))
        #expect(DeviceControl.crop(other, bounds: bounds, standard: bounds) == nil)
        #expect(DeviceControl.crop(bounds, bounds: bounds, standard: other) == nil)
    }

    @Test func `a control checks its rectangle, and names the bounds`() throws {
        let control = try #require(DeviceControl.crop(sensor, bounds: sensor, standard: sensor))
        try control.check(PixelRectangle(left: 1, top: 1, width: 2, height: 2))
        try control.check(control.maximum)
        try control.check(control.minimum)
        for value in [0, -1, .min, .max, control.minimum - 1, control.maximum + 1] {
            let error = #expect(throws: CaptureError.self) { try control.check(value) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("within 0,0,1920x1080") == true)
        }
    }
}
