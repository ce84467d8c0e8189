import CaptureCore
import Glibc
import MediaConversion
import TestWidth
import Testing

@Suite struct SoundConverterTests {
    private static func tone(_ format: AudioFormat, _ frames: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<frames {
            let value = sin(2 * .pi * 440 * Double(index) / Double(format.sampleRate)) / 2
            for _ in 0..<format.channels {
                switch format.sampleFormat {
                case .s16: unsafe withUnsafeBytes(of: Int16(value * 32767)) { unsafe bytes.append(contentsOf: $0) }
                case .s32:
                    unsafe withUnsafeBytes(of: Int32(value * 2_147_483_647)) { unsafe bytes.append(contentsOf: $0) }
                case .s24Packed:
                    unsafe withUnsafeBytes(of: Int32(value * 8_388_607)) {
                        unsafe bytes.append(contentsOf: $0.prefix(3))
                    }
                case .float32: unsafe withUnsafeBytes(of: Float(value)) { unsafe bytes.append(contentsOf: $0) }
                }
            }
        }
        return bytes
    }

    private static func values(_ bytes: [UInt8], _ format: AudioFormat) -> [Double] {
        stride(from: 0, to: bytes.count / format.bytesPerFrame * format.bytesPerFrame, by: format.bytesPerFrame).map {
            let part = Array(bytes[$0..<$0 + format.sampleFormat.bytes])
            return unsafe part.withUnsafeBytes { raw in
                switch format.sampleFormat {
                case .s16: Double(unsafe raw.loadUnaligned(as: Int16.self)) / 32767
                case .s32: Double(unsafe raw.loadUnaligned(as: Int32.self)) / 2_147_483_647
                default: Double(unsafe raw.loadUnaligned(as: Float.self))
                }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `a tone stays what it is`(source: SampleFormat) throws {
        for rate in [16000, 44100] {
            for (channels, wanted) in [(1, 2), (2, 1), (2, 2)] {
                for target in [SampleFormat.s16, .float32] {
                    let input = AudioFormat(
                        sampleFormat: source,
                        sampleRate: 48000,
                        channels: channels,
                        periodFrames: 480
                    )
                    let converter = try SoundConverter(input, to: target, rate: rate, channels: wanted)
                    let bytes = SoundConverterTests.tone(input, 1440)
                    var made: [UInt8] = []
                    var room = [UInt8](repeating: 0, count: converter.format.periodBytes)
                    for period in 0..<3 {
                        let frames = try unsafe bytes.withUnsafeBytes { all in
                            let part = unsafe UnsafeRawBufferPointer(
                                rebasing: all[period * input.periodBytes..<(period + 1) * input.periodBytes]
                            )
                            return try unsafe room.withUnsafeMutableBytes { room in
                                try unsafe converter.convert(part, into: room)
                            }
                        }
                        made += room.prefix(frames * converter.format.bytesPerFrame)
                    }
                    let values = SoundConverterTests.values(made, converter.format)
                    let missing = Double(1440 * rate / 48000 - values.count) / Double(rate)
                    // What is not out yet is what the converter says that it holds.
                    #expect(abs(missing - Double(converter.delay) / 1e9) < 2 / Double(rate))
                    let worst =
                        values.indices.dropFirst(50).map { index in
                            abs(values[index] - sin(2 * .pi * 440 * Double(index) / Double(rate)) / 2)
                        }.max() ?? 1
                    #expect(worst < 0.01, "\(source) to \(target), \(rate) Hz, \(channels) to \(wanted)")
                }
            }
        }
    }

    @Test func `24 bits in three bytes are refused`() throws {
        let input = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)
        let error = try #require(throws: CaptureError.self) {
            try SoundConverter(input, to: .s24Packed, rate: 48000, channels: 2)
        }
        #expect(error.code == .noSuchFormat)
    }

    @Test func `a period that would become too long is refused`() throws {
        let input = AudioFormat(sampleFormat: .s16, sampleRate: 1000, channels: 1, periodFrames: 1_000_000)
        for (rate, channels) in [(768_000, 8), (48000, 2)] {
            let error = try #require(throws: CaptureError.self) {
                try SoundConverter(input, to: .float32, rate: rate, channels: channels)
            }
            #expect(error.code == .noSuchFormat && error.message.contains("too long"), "\(error)")
        }
    }
}
