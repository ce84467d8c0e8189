public import CaptureCore
import CaptureRing

/// A frame of a camera.
///
/// A frame that already is as the output's settings ask is not copied, and neither is one of an output without settings.
/// It stays in the memory that the camera wrote, and may be overwritten a few frames later. So look at `isIntact` after
/// the bytes were used, and throw away what was made of them if that is false.
///
/// A converted frame, and one that a synchronizer hands over, is in memory of the program's own and stays as it is. A
/// program can hold 16 of those of each output. Thread-safe.
public struct VideoFrame: Sendable {
    /// One plane of a frame.
    @safe
    public struct Plane {
        /// Its rows. Valid as long as the frame is held. The last row has no padding.
        public let bytes: UnsafeRawBufferPointer
        /// Bytes from one row to the next, padding included; 0 for a compressed frame.
        public let stride: Int
        /// Pixels in a row. For a plane of chroma, its samples, or pairs of them: half the frame's width for NV12.
        public let width: Int
        /// Rows.
        public let height: Int
    }

    /// The planes of a frame, in the order of the pixel format.
    public struct Planes: RandomAccessCollection {
        fileprivate let frame: VideoFrame
        /// The first plane.
        public var startIndex: Int { 0 }
        /// One past the last plane.
        public var endIndex: Int { frame.shape.places.count }
        /// A plane by its number.
        public subscript(index: Int) -> Plane {
            let place = frame.shape.places[index]
            let count = Swift.min(place.count, frame.used)
            let bytes = unsafe frame.place.plane(place.memory, offset: place.start, place.offset + count)
            return unsafe Plane(
                bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(place.offset)),
                stride: place.stride,
                width: place.width,
                height: place.height
            )
        }
    }

    /// When it was captured.
    public let time: Timestamp
    /// The camera's own count of frames, lost ones included.
    public let sequence: UInt64
    /// When it reached this machine's shared memory.
    public let published: Timestamp
    /// The driver's flags.
    public let flags: BufferFlags
    let shape: FrameShape
    fileprivate let place: DataPlace
    /// Bytes of a compressed frame; else the most there can be.
    private let used: Int

    init(_ buffer: RingBuffer, _ shape: FrameShape, _ place: DataPlace) {
        time = buffer.info.timestamp
        sequence = buffer.info.deviceSequence
        published = buffer.published
        flags = buffer.info.flags
        self.shape = shape
        self.place = place
        used = shape.isRaw ? .max : unsafe buffer.plane(0).count
    }

    /// The format of this frame, which may differ from that of the one before.
    public var format: VideoFormat { shape.format }
    /// Its planes; a compressed frame is one.
    public var planes: Planes { Planes(frame: self) }
    /// The distance of a pixel in metres, in a frame of a depth format.
    ///
    /// - Returns: `nil` if it is not known, for a place outside the frame, and for a frame of another format.
    public func distance(x: Int, y: Int) -> Double? {
        guard format.pixelFormat.isDepth, let plane = planes.first, (0..<format.width).contains(x),
            (0..<plane.height).contains(y), let number = plane.number(x, y), number > 0
        else { return nil }
        return Double(number) / 1000
    }

    /// The range of the frame's distances in metres, from the nearest pixel to the farthest. It looks at every pixel.
    ///
    /// - Returns: `nil` if no distance is known, and for a frame of another format.
    public var distances: ClosedRange<Double>? {
        guard format.pixelFormat.isDepth, let plane = planes.first else { return nil }
        var (nearest, farthest) = (UInt16.max, UInt16(0))
        for y in 0..<plane.height {
            for x in 0..<plane.width {
                guard let number = plane.number(x, y), number > 0 else { continue }
                (nearest, farthest) = (min(nearest, number), max(farthest, number))
            }
        }
        return farthest > 0 ? Double(nearest) / 1000...Double(farthest) / 1000 : nil
    }

    /// Whether the bytes are still those that were captured. Asked after use: true means that all that was read until
    /// now was whole.
    public var isIntact: Bool { place.isIntact }
}

extension VideoFrame.Plane {
    /// A number of 16 bits; `nil` outside of the plane.
    fileprivate func number(_ x: Int, _ y: Int) -> UInt16? {
        let place = y * stride + 2 * x
        guard unsafe place + 2 <= bytes.count else { return nil }
        return unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self).littleEndian
    }
}

/// Where the planes of frames of one format lie.
final class FrameShape: Sendable {
    struct Place: Sendable {
        let memory: Int
        /// Where the memory plane begins in a frame that was copied.
        let start: Int
        /// From there to the first row.
        let offset: Int
        let count: Int
        let stride: Int
        let width: Int
        let height: Int
    }

    let format: VideoFormat
    let places: [Place]
    /// Whether every frame has the same number of bytes.
    let isRaw: Bool
    /// Bytes that each memory plane must have.
    private let needed: [Int]

    init(_ format: VideoFormat) {
        self.format = format
        guard let structure = PixelStructure(format.pixelFormat), let planes = structure.planes(of: format) else {
            isRaw = false
            needed = []
            places = format.planes.enumerated().map { index, plane in
                Place(
                    memory: index,
                    start: plane.offset,
                    offset: 0,
                    count: plane.size,
                    stride: plane.stride,
                    width: format.width,
                    height: format.height
                )
            }
            return
        }
        isRaw = true
        needed = format.planes.indices.map { memory in planes.filter { $0.memory == memory }.map(\.end).max() ?? 0 }
        places = zip(planes, structure.planes).map { plane, ideal in
            Place(
                memory: plane.memory,
                start: format.planes[plane.memory].offset,
                offset: plane.offset,
                count: plane.end - plane.offset,
                stride: plane.stride,
                width: planes.count == 1 ? format.width : (format.width + ideal.across - 1) / ideal.across,
                height: plane.rows
            )
        }
    }

    /// Whether a buffer has all that a frame needs.
    func isWhole(_ buffer: RingBuffer) -> Bool {
        if !isRaw { return unsafe !buffer.plane(0).isEmpty }
        for (index, count) in needed.enumerated() where unsafe buffer.plane(index).count < count {
            return false
        }
        return true
    }
}
