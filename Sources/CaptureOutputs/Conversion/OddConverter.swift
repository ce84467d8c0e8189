import CLibV4L
import CaptureCore
import CaptureRing
import MediaConversion

/// From the formats of old webcams to 4:2:0 planes or to red, green and blue, by libv4lconvert. Thread-bound.
///
/// The library unpacks some formats where they stand, and writes some pictures larger than it was asked for: it is given
/// memory of its own for both, and only formats with which it stayed within that memory at even and odd sizes, whatever
/// stood in the frame.
///
/// The library gets a made-up device that has no formats but every control. So it asks no real hardware, and makes no
/// controls of its own, which it would keep in shared memory.
@safe
final class OddConverter: BufferConverter {
    /// The formats that were tried.
    static let formats: [PixelFormat] = [
        "S561", "P207", "M310", "CITV", "KONI", "SONX", "905C", "S920", "S680", "S910", "HM12", "M420",
    ].compactMap { PixelFormat(name: $0) }

    /// What comes out.
    let layout: PictureLayout
    private let library: OpaquePointer
    private let operations: UnsafeMutablePointer<libv4l_dev_ops>
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer
    private var source = unsafe v4l2_format()
    private var target = unsafe v4l2_format()

    /// Bytes behind a frame that the library may read, or behind a picture that it may write.
    private static let room = 65536

    /// A converter from `format`.
    ///
    /// - Throws: `noSuchFormat` for a format that is not in `formats`, or that the library refuses at this size.
    init(_ format: VideoFormat, to samples: PictureLayout.Samples) throws(CaptureError) {
        let isRGB = samples == .rgb
        layout = PictureLayout(width: format.width, height: format.height, samples: isRGB ? .rgb : .yuv420)
        let refusal = CaptureError(
            .noSuchFormat,
            "captured cannot decode \(format); choose another format with --video-format, or get the bytes with: capturectl frames --format raw"
        )
        guard OddConverter.formats.contains(format.pixelFormat), format.width % 2 == 0, format.height % 2 == 0,
            let plane = format.planes.first
        else { throw refusal }
        let operations = UnsafeMutablePointer<libv4l_dev_ops>.allocate(capacity: 1)
        unsafe operations.initialize(to: libv4l_dev_ops())
        unsafe operations.pointee.`init` = { _ in nil }
        unsafe operations.pointee.close = { _ in }
        unsafe operations.pointee.ioctl = { _, _, request, argument in
            unsafe OddConverter.answer(request, argument)
        }
        unsafe operations.pointee.read = { _, _, _, _ in -1 }
        unsafe operations.pointee.write = { _, _, _, _ in -1 }
        guard let library = unsafe v4lconvert_create_with_dev_ops(-1, nil, operations) else {
            unsafe operations.deallocate()
            throw CaptureError(.internalFault, "libv4lconvert has no converter to give")
        }
        unsafe self.library = unsafe library
        unsafe self.operations = unsafe operations
        // The largest picture that any of its steps makes is of four bytes a pixel.
        // It reads HM12 as if each picture were 720 wide.
        let most = max(layout.lumaSize * 4, plane.size, 1080 * (layout.height + 32)) + OddConverter.room
        unsafe input = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 64)
        unsafe output = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 64)
        unsafe _ = input.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe source.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        unsafe source.fmt.pix.width = UInt32(format.width)
        unsafe source.fmt.pix.height = UInt32(format.height)
        unsafe source.fmt.pix.pixelformat = format.pixelFormat.rawValue
        unsafe source.fmt.pix.bytesperline = UInt32(plane.stride)
        unsafe source.fmt.pix.sizeimage = UInt32(plane.size)
        unsafe source.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        unsafe target = unsafe source
        unsafe target.fmt.pix.pixelformat = (isRGB ? PixelFormat.rgb24 : .yuv420).rawValue
        unsafe target.fmt.pix.bytesperline = UInt32(layout.row)
        unsafe target.fmt.pix.sizeimage = UInt32(layout.size)
    }

    /// Plays the device: the library gives up without capabilities; none at all will do.
    private static func answer(_ request: UInt, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        guard let argument = unsafe argument else { return -1 }
        switch request {
        case clibv4l_query_capabilities:
            unsafe argument.initializeMemory(as: v4l2_capability.self, repeating: v4l2_capability(), count: 1)
        case clibv4l_query_control:
            let control = unsafe argument.assumingMemoryBound(to: v4l2_queryctrl.self)
            let id = unsafe control.pointee.id
            unsafe control.pointee = v4l2_queryctrl()
            unsafe control.pointee.id = id
        default: return -1
        }
        return 0
    }

    deinit {
        unsafe v4lconvert_destroy(library)
        unsafe operations.deallocate()
        unsafe input.deallocate()
        unsafe output.deallocate()
    }

    var capacity: Int { layout.size }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        unsafe convert(buffer.plane(0), into: memory)
    }

    /// Converts one frame.
    ///
    /// - Returns: Bytes of the picture, or `nil` for a frame that is broken.
    func convert(_ bytes: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard bytes.count > 0, bytes.count <= (unsafe input.count) - OddConverter.room, memory.count >= layout.size,
            let from = unsafe input.bindMemory(to: UInt8.self).baseAddress,
            let to = unsafe output.bindMemory(to: UInt8.self).baseAddress
        else { return nil }
        unsafe input.copyMemory(from: bytes)
        let count = unsafe v4lconvert_convert(
            library,
            &source,
            &target,
            from,
            Int32(clamping: bytes.count),
            to,
            Int32(clamping: layout.size)
        )
        guard count == layout.size else { return nil }
        unsafe memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[..<layout.size]))
        return layout.size
    }
}
