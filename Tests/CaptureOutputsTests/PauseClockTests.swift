import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureOutputs

/// What streams do that cannot be trusted, or that lose something.
@Suite struct `The clock of pauses` {
    private static let mono = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)
    private let pool: BufferPool
    private let now = Timestamp.now

    init() throws { pool = try BufferPool(count: 64, capacity: 960) }

    /// A buffer of ten milliseconds, captured so many nanoseconds from now.
    private func buffer(at nanoseconds: Int64, position: UInt64 = 0, lost: UInt64 = 0) throws -> MediaBuffer {
        let info = BufferInfo(
            timestamp: now.advanced(by: nanoseconds),
            deviceSequence: 0,
            position: position,
            bytesUsed: (960, 0, 0, 0),
            flags: .monotonic
        )
        return MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info, lostBefore: lost)
    }

    /// The sample frames that are kept of periods, with their places in the file; period 0 was a second ago.
    private func places(_ clock: PauseClock, _ periods: Range<Int>, lost: UInt64 = 0) throws -> [Range<UInt64>] {
        var kept: [Range<UInt64>] = []
        for index in periods {
            let period = try buffer(
                at: Int64(index) * 10_000_000 - 1_000_000_000,
                position: UInt64(index * 480),
                lost: index == periods.lowerBound ? lost : 0
            )
            try clock.take(audio: period) { piece in
                kept.append(piece.info.position..<piece.info.position + UInt64(piece.count / 2))
            }
        }
        return kept
    }

    @Test func `is not delayed by a camera that is ahead`() throws {
        let clock = PauseClock(hasVideo: true, audio: Self.mono)
        try clock.take(video: try buffer(at: 9_000_000_000)) { _ in }
        clock.pause(at: now)
        try clock.take(audio: try buffer(at: 1_000_000_000)) { _ in Issue.record("sound of the pause was kept") }
    }

    @Test func `has no silence in the place of a pause around whose beginning sound was lost`() throws {
        let clock = PauseClock(hasVideo: false, audio: Self.mono)
        #expect(try places(clock, 0..<10).last?.upperBound == 4800)
        clock.pause(at: now.advanced(by: -850_000_000))
        // Of the periods 10 to 29, the first five are missing from the file, and the rest is in the pause.
        #expect(try places(clock, 30..<40, lost: 20).isEmpty)
        clock.resume(at: now.advanced(by: -550_000_000))
        let after = try places(clock, 45..<46)
        #expect(after.first.map { abs(Int($0.lowerBound) - (4800 + 5 * 480)) <= 2 } == true)
    }

    @Test func `keeps no pause that is over`() throws {
        let clock = PauseClock(hasVideo: false, audio: Self.mono)
        for index in 0..<3 * PauseClock.most {
            let start = now.advanced(by: Int64(index) * 30_000_000 - 1_000_000_000)
            clock.pause(at: start.advanced(by: 10_000_000))
            clock.resume(at: start.advanced(by: 20_000_000))
            #expect(!clock.isPaused)
            _ = try places(clock, index * 3..<index * 3 + 3)
        }
        #expect(clock.length(until: now.advanced(by: 1 << 50)) == Int64(3 * PauseClock.most) * 10_000_000)
    }

    @Test func `stays in a pause when there were too many`() throws {
        let clock = PauseClock(hasVideo: false, audio: Self.mono)
        for index in 0..<2 * PauseClock.most {
            clock.pause(at: now.advanced(by: Int64(index) * 2))
            clock.resume(at: now.advanced(by: Int64(index) * 2 + 1))
        }
        #expect(clock.isPaused)
    }

    @Test(arguments: [Int64.min, .max]) func `bears every time and position`(number: Int64) throws {
        let clock = PauseClock(hasVideo: true, audio: Self.mono)
        for _ in 0..<2 {
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: number),
                deviceSequence: 0,
                position: number < 0 ? 0 : .max,
                bytesUsed: (960, 0, 0, 0),
                flags: .monotonic
            )
            try clock.take(video: MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info)) { _ in }
            try clock.take(audio: MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info)) { _ in }
            clock.pause(at: .now)
            clock.resume(at: .now)
        }
    }
}
