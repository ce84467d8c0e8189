import BusSupport
import CaptureKit
import Testing

struct FormatTextTests {
    @Test func `a whole video format is exact`() throws {
        let request = try VideoFormatRequest(text: "YUYV:1280x720@29.97")
        #expect(request.pixelFormat == .yuyv)
        #expect(request.width == 1280 && request.height == 720)
        #expect(request.framesPerSecond == 29.97)
        #expect(request.isExact)
    }

    @Test func `parts may be left out`() throws {
        #expect(try VideoFormatRequest(text: "640x480").pixelFormat == nil)
        #expect(try VideoFormatRequest(text: "MJPG").width == nil)
        #expect(try VideoFormatRequest(text: "MJPG@15").framesPerSecond == 15)
    }

    @Test(arguments: ["", "YUYV:", "YUYV:0x0", "TOOLONG", "1280x720@", "1280x720@-1", "YUYV:1280x", "a:b:c@30"])
    func `what is no video format is a usage error`(text: String) {
        #expect(code { try VideoFormatRequest(text: text) } == .usage)
    }

    @Test func `a whole audio format is exact`() throws {
        let request = try AudioFormatRequest(text: "S16_LE:48000x2")
        #expect(request.sampleFormat == .s16)
        #expect(request.sampleRate == 48000)
        #expect(request.channels == 2)
        #expect(try AudioFormatRequest(text: "44100").channels == nil)
    }

    @Test(arguments: ["", "U8:8000", "48000x", "48000x99", "x2", "48000x2x2"])
    func `what is no audio format is a usage error`(text: String) {
        #expect(code { try AudioFormatRequest(text: text) } == .usage)
    }

    @Test(arguments: [
        ("a.mkv", "mkv"), ("b.MP4", "mp4"), ("c.mov", "mov"), ("d.wav", "wav"), ("e.flac", "flac"), ("f.opus", "opus"),
        ("g.ogg", "opus"), ("/dev/null", "mkv"), ("/x.y/plain", "mkv"), (".hidden", "mkv"),
    ])
    func `a recording's format comes from the extension`(path: String, name: String) throws {
        #expect(try FileFormat.recording(nil, path: path).name == name)
    }

    @Test func `a given format counts more than the extension`() throws {
        #expect(try FileFormat.recording("wav", path: "a.mkv") == FileFormat(kind: .sound, name: "wav"))
        #expect(try FileFormat.photo("png", path: "a.jpg").name == "png")
        #expect(try FileFormat.photo(nil, path: "a.jpg").name == "jpeg")
    }

    @Test func `unknown formats and extensions are usage errors`() {
        for body in [
            { try FileFormat.recording("avi", path: "a.mkv") }, { try FileFormat.recording(nil, path: "a.avi") },
            { try FileFormat.photo(nil, path: "a.gif") },
        ] {
            #expect(code { try body() } == .usage)
        }
    }
}
