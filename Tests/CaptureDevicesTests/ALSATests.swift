import Authorization
import CaptureCore
import TestSupport
import Testing

@testable import CaptureDevices

@Suite struct ALSATests {
    private func description(_ aliases: [String]) -> DeviceDescription {
        DeviceDescription(
            id: DeviceID(rawValue: "alsa:x:0"),
            mediaType: .audio,
            name: "x",
            aliases: aliases,
            driver: "",
            bus: ""
        )
    }

    @Test func `an address is read back from the aliases of its description`() {
        let address = PCMAddress(card: 1, device: 2, subdevice: 3)
        #expect(PCMAddress(description(address.aliases(cardID: "Loopback"))) == address)
        #expect(address.aliases(cardID: "Loopback") == ["hw:1,2,3", "hw:Loopback,2,3"])
        let first = PCMAddress(card: 1, device: 2, subdevice: 0)
        #expect(first.aliases(cardID: "A") == ["hw:1,2", "hw:A,2", "hw:1,2,0", "hw:A,2,0"])
        #expect(PCMAddress(description(["hw:1,2", "hw:A,2", "hw:A,2,0", "hw:1,2,", "/dev/video0"])) == nil)
    }

    @Test func `a refusal names what the microphone offers`() {
        let options = [
            AudioFormatOption(sampleFormats: ["S16_LE", "S32_LE"], rates: 8000...48000, channels: 1...2),
            AudioFormatOption(sampleFormats: ["S16_LE"], rates: 96000...96000, channels: 1...1),
        ]
        #expect(
            PCMSetup.words(for: options) == "it offers S16_LE or S32_LE at 8000 to 48000 Hz with 1 to 2 channels, "
                + "S16_LE at 96000 Hz with 1 channel"
        )
    }

    @Test func `an id is made of the stable name and leaves the first subdevice out`() {
        #expect(PCMAddress(card: 1, device: 0, subdevice: 0).id(stableName: "PCH").rawValue == "alsa:PCH:0")
        #expect(PCMAddress(card: 1, device: 0, subdevice: 2).id(stableName: "PCH").rawValue == "alsa:PCH:0:2")
    }

    @Test(arguments: [8000, 44_100, 48_000, 192_000])
    func `the silence of an interruption is as long as the gap to the sample`(_ rate: Int) {
        let expected = Timestamp(nanoseconds: 7_000_000_000_123)
        for frames: Int64 in [0, 1, 2, 479, 480, 44_101, 1_000_003, 20_000_000_001] {
            let found = expected.advanced(by: SoundTiming.nanoseconds(frames, rate))
            #expect(SoundTiming.missing(expected: expected, found: found, rate: rate) == frames)
            // A stamp may be off by less than half a sample.
            let slack = Int64(400_000_000 / rate)
            #expect(SoundTiming.missing(expected: expected, found: found.advanced(by: slack), rate: rate) == frames)
        }
        let early = expected.advanced(by: -5_000_000)
        #expect(SoundTiming.missing(expected: expected, found: early, rate: rate) == 0)
    }

    @Test func `the oldest unread sample was captured as long ago as there are unread ones`() {
        let stamp = Timestamp(nanoseconds: 10_000_000_000)
        #expect(SoundTiming.first(stamp: stamp, available: 480, rate: 48_000).nanoseconds == 9_990_000_000)
        #expect(SoundTiming.first(stamp: stamp, available: 0, rate: 48_000) == stamp)
        #expect(SoundTiming.first(stamp: stamp, available: 96_001, rate: 48_000).nanoseconds == 7_999_979_167)
    }

    @Test func `a buffer overruns when its writer is less than a period behind its reader`() {
        #expect(SoundTiming.overrun(available: 480, buffer: 24_000, period: 480) == 0)
        // A card with two periods has one of them unread whenever the reader wakes, and a little more if that is late.
        #expect(SoundTiming.overrun(available: 600, buffer: 960, period: 480) == 0)
        #expect(SoundTiming.overrun(available: 841, buffer: 960, period: 480) == 361)
        #expect(SoundTiming.overrun(available: 23_520, buffer: 24_000, period: 480) == 0)
        #expect(SoundTiming.overrun(available: 23_521, buffer: 24_000, period: 480) == 11_521)
        // The counter runs on: a second's loss of a half-second's buffer, to the sample.
        #expect(SoundTiming.overrun(available: 72_007, buffer: 24_000, period: 480) == 60_007)
    }

    @Test func `mixer names are words with underscores`() {
        #expect(ALSAControls.controlName("Mic Boost") == "mic_boost")
        #expect(ALSAControls.controlName("Capture") == "capture")
        #expect(ALSAControls.controlName("S/PDIF 16-bit") == "s_pdif_16_bit")
    }

    @Test func `a grant for cameras opens no microphone, and a withdrawn one nothing`() async throws {
        let device = description(["hw:0,0,0"])
        let camera = try await TestGrants.camera()
        #expect(code { _ = try ALSA.open(device, AudioFormatRequest(), grant: camera) } == .notPermitted)
        let (grant, revoke) = try await TestGrants.revocable(.microphone)
        try await revoke()
        #expect(code { _ = try ALSA.open(device, AudioFormatRequest(), grant: grant) } == .revoked)
        #expect(code { _ = try ALSAControls.open(device, grant: camera) } == .notPermitted)
    }

    @Test(arguments: [-1, (1 << 36) + 1, .max, .min])
    func `a driver's count of unread frames is refused if its time would overflow`(available: Int) {
        #expect(!SoundTiming.isPossible(available: available))
    }

    @Test func `every accepted count of unread frames has a time, at any rate`() {
        for rate in [1000, 48_000, 10_000_000] {
            #expect(SoundTiming.isPossible(available: 1 << 36))
            let stamp = Timestamp(seconds: 1 << 32, nanoseconds: 999_999_999)
            let first = SoundTiming.first(stamp: stamp, available: 1 << 36, rate: rate)
            #expect(first < stamp)
            #expect(SoundTiming.missing(expected: first, found: stamp, rate: rate) > 0)
        }
    }

    @Test(arguments: [(Int.max, 0), (-1, 0), (100, -1), (100, 1_000_000_000), (Int.min, Int.min), (89, 0), (111, 0)])
    func `a timestamp that the clock cannot have shown is ignored`(seconds: Int, nanoseconds: Int) {
        let now = Timestamp(seconds: 100, nanoseconds: 0)
        #expect(SoundTiming.stamp(seconds: seconds, nanoseconds: nanoseconds, now: now) == nil)
        #expect(SoundTiming.stamp(seconds: 99, nanoseconds: 5, now: now) == Timestamp(seconds: 99, nanoseconds: 5))
    }
}
