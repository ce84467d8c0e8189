package import CLibAV
package import CaptureCore

extension SampleFormat {
    /// The same in libav's words, interleaved, once 24 bits in three bytes are widened.
    package var interleaved: AVSampleFormat {
        switch self {
        case .s16: AV_SAMPLE_FMT_S16
        case .s24Packed, .s32: AV_SAMPLE_FMT_S32
        case .float32: AV_SAMPLE_FMT_FLT
        }
    }
}

/// Brings samples of 24 bits in three bytes to four, which libav does not do. Thread-bound.
package struct SampleWidener {
    private var widened: [UInt8] = []

    /// A widener that has no memory yet.
    package init() {}

    /// Calls `body` with the samples in a width that libav knows.
    package mutating func wide<Result>(
        _ samples: UnsafeRawBufferPointer,
        of format: SampleFormat,
        _ body: (UnsafeRawPointer?) throws(CaptureError) -> Result
    ) throws(CaptureError) -> Result {
        if format != .s24Packed { return try unsafe body(samples.baseAddress) }
        widened.removeAll(keepingCapacity: true)
        for index in stride(from: 0, to: samples.count / 3 * 3, by: 3) {
            widened.append(0)
            unsafe widened.append(contentsOf: samples[index..<index + 3])
        }
        return try unsafe widened.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            try unsafe body(bytes.baseAddress.map { unsafe UnsafeRawPointer($0) })
        }
    }
}
