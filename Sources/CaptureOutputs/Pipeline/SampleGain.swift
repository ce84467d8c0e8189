import CaptureCore

/// Makes samples quieter or louder.
enum SampleGain {
    /// Multiplies each sample frame by a gain, which is given for its number and cut to what is allowed. What would be
    /// louder than full scale is cut.
    ///
    /// - Parameter most: The largest gain.
    static func apply(
        to bytes: UnsafeMutableRawBufferPointer,
        _ format: AudioFormat,
        upTo most: Double = 1,
        _ gain: (Int) -> Double
    ) {
        let width = format.sampleFormat.bytes
        for frame in 0..<bytes.count / format.bytesPerFrame {
            let gain = min(max(gain(frame), 0), most)
            if gain == 1 { continue }
            for channel in 0..<format.channels {
                let at = frame * format.bytesPerFrame + channel * width
                switch format.sampleFormat {
                case .s16:
                    let sample = unsafe bytes.loadUnaligned(fromByteOffset: at, as: Int16.self)
                    let made = Int16(clamping: Int(Double(sample) * gain))
                    unsafe bytes.storeBytes(of: made, toByteOffset: at, as: Int16.self)
                case .s24Packed:
                    let high = unsafe Int32(Int8(bitPattern: bytes[at + 2]))
                    let sample = unsafe high << 16 | Int32(bytes[at + 1]) << 8 | Int32(bytes[at])
                    let whole = min(max(Int(Double(sample) * gain), -8_388_608), 8_388_607)
                    let made = UInt32(bitPattern: Int32(whole))
                    for byte in 0..<3 { unsafe bytes[at + byte] = UInt8(truncatingIfNeeded: made >> UInt32(8 * byte)) }
                case .s32:
                    let sample = unsafe bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)
                    let made = Int32(clamping: Int(Double(sample) * gain))
                    unsafe bytes.storeBytes(of: made, toByteOffset: at, as: Int32.self)
                case .float32:
                    let sample = unsafe bytes.loadUnaligned(fromByteOffset: at, as: Float.self) * Float(gain)
                    let made = gain > 1 ? min(max(sample, -1), 1) : sample
                    unsafe bytes.storeBytes(of: made, toByteOffset: at, as: Float.self)
                }
            }
        }
    }
}
