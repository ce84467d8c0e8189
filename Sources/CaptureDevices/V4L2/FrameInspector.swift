import CLinux
import CaptureCore
import CaptureSystem

/// Reads what the driver says about a buffer. No allocation; no system call for a driver that stamps by the monotonic
/// clock.
struct FrameInspector {
    var sequence: SequenceCounter
    /// The number of the buffer at hand.
    var deviceSequence: UInt64 = 0

    private let format: PixelFormat
    private let isJPEG: Bool
    private let isCompressed: Bool
    /// Bytes of each plane at most, and at least for a whole frame.
    private let most: (UInt32, UInt32, UInt32, UInt32)
    private let least: (UInt32, UInt32, UInt32, UInt32)
    private let planeCount: Int

    /// How far a stamp of the monotonic clock may be from the clock itself, in nanoseconds.
    private static let largestDistance: Int64 = 10_000_000_000

    /// An inspector of frames of a format.
    ///
    /// - Parameter joinsLate: The device counted before the stream began, as a loopback does: its first buffer is the
    ///   picture that stood there, and what lies between that and the next was nobody's loss.
    init(_ format: VideoFormat, joinsLate: Bool) {
        sequence = SequenceCounter(joinsLate: joinsLate)
        self.format = format.pixelFormat
        isCompressed = format.pixelFormat.isCompressed
        isJPEG = format.pixelFormat == .mjpeg || format.pixelFormat == .jpeg
        planeCount = min(format.planes.count, 4)
        func sizes(_ size: (Int) -> Int) -> (UInt32, UInt32, UInt32, UInt32) {
            func of(_ index: Int) -> UInt32 { index < format.planes.count ? UInt32(clamping: size(index)) : 0 }
            return (of(0), of(1), of(2), of(3))
        }
        most = sizes { format.planes[$0].size }
        least = sizes { FrameInspector.leastBytes($0, format) }
    }

    /// Bytes without which a memory plane is not whole; of a format that is not known, its rows, of any other plane a byte.
    private static func leastBytes(_ index: Int, _ format: VideoFormat) -> Int {
        let plane = format.planes[index]
        if format.pixelFormat.isCompressed { return 1 }
        guard let planes = PixelStructure(format.pixelFormat)?.planes(of: format) else {
            return max(1, index == 0 ? min(plane.size, plane.stride * format.height) : 1)
        }
        return min(plane.size, planes.lazy.filter { $0.memory == index }.map(\.end).max() ?? 1)
    }

    /// Bytes of a plane in use, header left out, never more than the plane has.
    @inline(__always)
    func used(_ raw: clinux_v4l2_buffer, _ plane: Int) -> Int {
        let used = element(raw.used, plane)
        let start = element(raw.start, plane)
        return used <= start ? 0 : Int(min(used - start, element(most, plane)))
    }

    /// The bytes of a frame that can be shown: not flagged as broken, nothing missing.
    ///
    /// - Parameter first: The bytes in use of the first plane.
    /// - Returns: Those of the first plane that belong to the picture, `nil` for a broken frame.
    func picture(_ raw: clinux_v4l2_buffer, _ first: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if raw.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 { return nil }
        for plane in 0..<planeCount where used(raw, plane) < Int(element(least, plane)) { return nil }
        if !isJPEG { return unsafe first }
        guard let length = unsafe JPEGImage.length(first) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: first.baseAddress, count: length)
    }

    /// What is to be told of a whole buffer.
    ///
    /// - Parameter picture: The bytes of the first plane.
    mutating func info(_ raw: clinux_v4l2_buffer, _ picture: UnsafeRawBufferPointer) -> BufferInfo {
        var flags: BufferFlags = []
        let isKeyframe =
            !isCompressed || isJPEG || raw.flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0
        if unsafe isKeyframe || CompressedFrame.isKeyframe(picture, format) { flags.insert(.keyframe) }
        if raw.flags & UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_MASK) == UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_SOE) {
            flags.insert(.startOfExposure)
        }
        return BufferInfo(
            timestamp: Self.stamp(raw, &flags),
            deviceSequence: deviceSequence,
            bytesUsed: (picture.count, used(raw, 1), used(raw, 2), used(raw, 3)),
            flags: flags
        )
    }

    /// When a buffer was captured, and how that is known.
    static func stamp(_ raw: clinux_v4l2_buffer, _ flags: inout BufferFlags) -> Timestamp {
        let clock = raw.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
        // What a driver says can be anything; in nanoseconds it need not fit.
        let isNumber = (0...1 << 33).contains(raw.seconds) && (0...1_000_000).contains(raw.microseconds)
        if clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), isNumber {
            let stamp = Timestamp(seconds: Int(raw.seconds), microseconds: Int(raw.microseconds))
            if isPlausible(stamp) {
                flags.insert(.monotonic)
                return stamp
            }
        }
        flags.insert(.stampedOnArrival)
        flags.remove(.startOfExposure)
        return .now
    }

    /// Whether a stamp can be the monotonic clock's: some cameras' own clocks leap by hours.
    private static func isPlausible(_ stamp: Timestamp) -> Bool {
        abs(stamp - Timestamp.now) < FrameInspector.largestDistance
    }
}
