import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureDevices

@Suite struct SyntheticSyncTests {
    @Test(arguments: [1, 7, 60], [true, false])
    func `flash and beep fall on the same instant whichever starts first`(_ speed: Int, _ cameraFirst: Bool) throws {
        let clock = SyntheticClock(speed: speed)
        let video = try SyntheticFormats.negotiate(VideoFormatRequest(width: 320, height: 240))
        let audio = try SyntheticFormats.negotiate(AudioFormatRequest())
        let camera = try MemorySink(.video(video), enough: 62)
        let microphone = try MemorySink(.audio(audio), enough: 202, slots: 256)
        var cameraRun = SyntheticCamera(video, TestPicture(video), clock, SyntheticControls(.video), camera)
        var microphoneRun = SyntheticMicrophone(audio, BeepTone(audio), clock, SyntheticControls(.audio), microphone)
        if cameraFirst {
            try cameraRun.stream(camera.enough)
            try microphoneRun.stream(microphone.enough)
        } else {
            try microphoneRun.stream(microphone.enough)
            try cameraRun.stream(camera.enough)
        }
        let reader = DigitReader(format: video)
        let flashes = camera.buffers.filter { reader.luma($0.bytes, 300, 10) == 235 }.map(\.info.timestamp.nanoseconds)
        let line = SoundLine(microphone, audio)
        let origin = microphone.buffers[0].info.timestamp.nanoseconds
        let beeps = line.onsets.filter { $0 > 0 || origin % 1_000_000_000 == 0 }
            .map { origin + Int64($0) * 1_000_000_000 / 48_000 }
        #expect(flashes.count >= 1)
        #expect(beeps.count >= 1)
        for instant in flashes + beeps { #expect(instant % 1_000_000_000 == 0) }
    }

    @Test func `stream time passes as fast as the clock says and comes back as the same moment`() {
        let origin = Timestamp(nanoseconds: 1_000_000_000_000)
        for speed in [1, 3, 60, 1000] {
            let clock = SyntheticClock(speed: speed, origin: origin)
            let moment = origin.advanced(by: 1_234_567_891)
            #expect(clock.streamTime(at: moment) - origin == 1_234_567_891 * Int64(speed))
            #expect(clock.moment(of: clock.streamTime(at: moment)) == moment)
            #expect(clock.moment(of: clock.streamTime(at: moment).advanced(by: 1)) - moment == 1)
        }
    }
}
