import AllocationCounter
import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureDevices

/// A sink that keeps nothing, and counts the allocations of the publishing thread once everything, beeps
/// and flashes included, has happened once: what is set up on first use is not of the steady state.
@safe private final class CountingSink: MediaSink, @unchecked Sendable {
    let slotCount = 8
    let slotCapacity: Int
    let isAwaited = true
    let enough: StreamControl
    private let slots: UnsafeMutableRawBufferPointer
    private let halfway: (@Sendable () -> Void)?
    private var published = 0
    private(set) var allocations: UInt?

    init(_ format: MediaFormat, halfway: (@Sendable () -> Void)? = nil) throws {
        self.halfway = halfway
        enough = try StreamControl()
        slotCapacity = (format.slotSize + 4095) / 4096 * 4096
        unsafe slots = .allocate(byteCount: slotCapacity * slotCount, alignment: 4096)
    }

    deinit { unsafe slots.deallocate() }

    func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: slots[slot * slotCapacity..<(slot + 1) * slotCapacity])
    }

    func claim() -> Int? { published % slotCount }
    func abandon(_ slot: Int) {}
    func count(_ cause: DropCause, _ number: UInt64) {}
    func finish(_ reason: StreamEnd) {}

    func publish(_ slot: Int, _ info: BufferInfo) {
        published += 1
        if published == 120 { allocation_counter_start() }
        if published == 200 { halfway?() }
        if published == 320 {
            allocations = UInt(allocation_counter_stop())
            enough.stop()
        }
    }
}

@Suite struct SyntheticAllocationTests {
    @Test func `a camera's frame allocates nothing`() throws {
        let format = try SyntheticFormats.negotiate(VideoFormatRequest(width: 320, height: 240))
        let sink = try CountingSink(.video(format))
        var run = SyntheticCamera(
            format,
            TestPicture(format),
            SyntheticClock(speed: 20),
            SyntheticControls(.video),
            sink
        )
        try run.stream(sink.enough)
        #expect(sink.allocations == 0)
    }

    @Test func `a microphone's period allocates nothing, silence included`() throws {
        let format = try SyntheticFormats.negotiate(AudioFormatRequest())
        let controls = SyntheticControls(.audio)
        let sink = try CountingSink(.audio(format)) { controls.forceXrun.now = 1 }
        try controls.set("force_xrun", to: 1)
        var run = SyntheticMicrophone(format, BeepTone(format), SyntheticClock(speed: 20), controls, sink)
        try run.stream(sink.enough)
        #expect(sink.allocations == 0)
    }
    @Test func `a muted microphone's period allocates nothing`() throws {
        let format = try SyntheticFormats.negotiate(AudioFormatRequest())
        let controls = SyntheticControls(.audio)
        let sink = try CountingSink(.audio(format)) { controls.mute.now = 1 }
        var run = SyntheticMicrophone(format, BeepTone(format), SyntheticClock(speed: 20), controls, sink)
        try run.stream(sink.enough)
        #expect(sink.allocations == 0)
    }
}
