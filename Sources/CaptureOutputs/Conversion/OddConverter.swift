import CLibV4L
import CaptureCore
import CaptureRing

/// From Bayer and the odd formats of unusual webcams to 4:2:0 planes, by libv4lconvert. Thread-bound.
///
/// The library is given a device that is none: it can nothing but has every control, so that nothing is asked of real
/// hardware and nothing is kept in shared memory, where the library puts controls of its own making.
@safe
final class OddConverter: BufferConverter {
    /// What comes out.
    let layout: PictureLayout
    private let library: OpaquePointer
    private let operations: UnsafeMutablePointer<libv4l_dev_ops>
    private var source = unsafe v4l2_format()
    private var target = unsafe v4l2_format()

    /// A converter from `format`.
    ///
    /// - Throws: `noSuchFormat` when the library does not know it either.
    init(_ format: VideoFormat) throws(CaptureError) {
        layout = PictureLayout(width: format.width, height: format.height, chroma: .yuv420)
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
        let plane = format.planes.first ?? PlaneLayout(offset: 0, stride: 0, size: 0)
        unsafe source.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        unsafe source.fmt.pix.width = UInt32(format.width)
        unsafe source.fmt.pix.height = UInt32(format.height)
        unsafe source.fmt.pix.pixelformat = format.pixelFormat.rawValue
        unsafe source.fmt.pix.bytesperline = UInt32(plane.stride)
        unsafe source.fmt.pix.sizeimage = UInt32(plane.size)
        unsafe source.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        unsafe target = unsafe source
        unsafe target.fmt.pix.pixelformat = PixelFormat.yuv420.rawValue
        unsafe target.fmt.pix.bytesperline = UInt32(format.width)
        unsafe target.fmt.pix.sizeimage = UInt32(layout.size)
        guard format.width % 2 == 0, format.height % 2 == 0, format.planes.count == 1 else {
            throw CaptureError(.noSuchFormat, "pictures of \(format) cannot be converted; record them with copy or raw")
        }
        try probe(format)
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
    }

    var capacity: Int { layout.size }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        unsafe convert(bytes: UnsafeMutableRawBufferPointer(mutating: buffer.plane(0)), into: memory)
    }

    private func convert(bytes: UnsafeMutableRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard let from = unsafe bytes.bindMemory(to: UInt8.self).baseAddress,
            let to = unsafe memory.bindMemory(to: UInt8.self).baseAddress
        else { return nil }
        let count = unsafe v4lconvert_convert(
            library,
            &source,
            &target,
            from,
            Int32(clamping: bytes.count),
            to,
            Int32(clamping: layout.size)
        )
        return count == layout.size ? layout.size : nil
    }

    /// Converts a black frame, to learn whether the library knows the format.
    private func probe(_ format: VideoFormat) throws(CaptureError) {
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: max(format.frameSize, 1), alignment: 64)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.size + 64, alignment: 64)
        defer {
            unsafe input.deallocate()
            unsafe output.deallocate()
        }
        unsafe _ = input.initializeMemory(as: UInt8.self, repeating: 0)
        if unsafe convert(bytes: input, into: output) != nil { return }
        let words = unsafe v4lconvert_get_error_message(library).map { unsafe String(cString: $0) } ?? ""
        // A compressed frame of zeros is refused for its content, which shows that the format is known.
        if words.contains("nknown") || !format.pixelFormat.isCompressed && format.planes[0].stride > 0 {
            throw CaptureError(
                .noSuchFormat,
                "pictures of \(format) cannot be converted (\(words.isEmpty ? "unknown format" : words)); record them raw"
            )
        }
    }
}
