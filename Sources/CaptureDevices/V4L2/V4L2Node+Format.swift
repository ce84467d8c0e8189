import CLinux
import CaptureCore
import CaptureSystem
import Glibc

extension V4L2Node {
    /// The widths and heights that a frame can have. A ring has the same limits.
    static let sides = 1...65536
    /// The most bytes that a driver can claim for a frame.
    private static let mostBytes = 1 << 30

    /// Sets format and rate, and reads back what the driver made of them.
    ///
    /// - Throws: `busy` naming who streams, `deviceLost`, `noSuchFormat` when the driver refuses, or when an exact wish
    ///   came out otherwise, `inputOutput` when the camera does not answer.
    func configure(_ choice: FormatNegotiation.Choice, for request: VideoFormatRequest) throws(CaptureError)
        -> VideoFormat
    {
        var raw = clinux_v4l2_format()
        raw.pixelformat = choice.pixelFormat.rawValue
        raw.width = UInt32(clamping: choice.width)
        raw.height = UInt32(clamping: choice.height)
        do throws(SystemError) {
            try SystemError.check("set \(path) to \(choice.pixelFormat) \(choice.width)x\(choice.height)") {
                unsafe clinux_v4l2_set_format(descriptor, bufferType, &raw)
            }
        } catch {
            // The driver does not take it, or the camera does not answer.
            throw failure(error, otherwise: [EINVAL, ENOTTY].contains(error.errno) ? .noSuchFormat : .inputOutput)
        }
        let interval = try setInterval(choice.interval)
        let format = try videoFormat(raw, interval)
        if request.isExact { try check(format, against: request) }
        return format
    }

    /// A failed call on the node as an error: unplugged or in use, else `nil`.
    func failure(_ error: SystemError) -> CaptureError? {
        switch error.errno {
        case ENODEV, ENXIO: CaptureError(.deviceLost, "the camera \(path) went away", errno: error.errno)
        case EBUSY: NodeHolders.busy(path, "the camera \(path)")
        default: nil
        }
    }

    /// A failed call on the node as an error: unplugged, in use, or of the given code.
    func failure(_ error: SystemError, otherwise code: CaptureError.Code) -> CaptureError {
        failure(error) ?? CaptureError(code, error)
    }

    /// Sets a rate where the driver knows rates, and tells the one in force; 0/1 where it does not say.
    private func setInterval(_ wanted: FrameInterval?) throws(CaptureError) -> FrameInterval {
        var numerator: UInt32 = 0
        var denominator: UInt32 = 0
        if let wanted {
            numerator = wanted.numerator
            denominator = wanted.denominator
            do throws(SystemError) {
                try SystemError.check("set \(path) to \(wanted)") {
                    unsafe clinux_v4l2_set_interval(descriptor, bufferType, &numerator, &denominator)
                }
                return FrameInterval(numerator, denominator)
            } catch {
                // Without S_PARM the rate is the driver's affair; what it is, G_PARM may tell.
                guard [ENOTTY, EINVAL, ENOTSUP, ENOSYS, ENODATA].contains(error.errno) else {
                    throw failure(error, otherwise: .inputOutput)
                }
            }
        }
        guard unsafe clinux_v4l2_get_interval(descriptor, bufferType, &numerator, &denominator) == 0 else {
            return FrameInterval(0, 1)
        }
        return FrameInterval(numerator, denominator)
    }

    private func videoFormat(_ raw: clinux_v4l2_format, _ interval: FrameInterval) throws(CaptureError) -> VideoFormat {
        var planes: [PlaneLayout] = []
        var offset = 0
        for plane in 0..<Int(raw.planes) {
            let size = Int(element(raw.size, plane))
            planes.append(PlaneLayout(offset: offset, stride: Int(element(raw.stride, plane)), size: size))
            // Each plane starts a page, so that a driver can take it as a user pointer of its own.
            offset += SharedMemory.pages(size)
        }
        let (width, height, bytes) = (Int(raw.width), Int(raw.height), planes.reduce(0) { $0 + $1.size })
        guard V4L2Node.sides.contains(width), V4L2Node.sides.contains(height) else {
            throw CaptureError(.badData, "the driver of \(path) reports frames of \(width)x\(height) pixels")
        }
        guard let first = planes.first, planes.allSatisfy({ $0.size > 0 }), bytes <= V4L2Node.mostBytes else {
            throw CaptureError(.badData, "the driver of \(path) reports frames of \(bytes) bytes")
        }
        let isRaw = !PixelFormat(rawValue: raw.pixelformat).isCompressed
        guard !isRaw || first.stride * height <= first.size else {
            throw CaptureError(
                .badData,
                "the driver of \(path) reports \(height) rows of \(first.stride) bytes in a frame of \(first.size)"
            )
        }
        return VideoFormat(
            pixelFormat: PixelFormat(rawValue: raw.pixelformat),
            width: width,
            height: height,
            interval: interval,
            planes: planes,
            color: ColorDescription(
                colorSpace: raw.colorspace,
                transfer: raw.transfer,
                encoding: raw.encoding,
                quantization: raw.quantization
            ),
            fields: try fields(raw)
        )
    }

    /// How the driver's frames are made of fields.
    ///
    /// - Throws: `noSuchFormat` where both fields stand one behind the other in a frame: no encoder takes that.
    private func fields(_ raw: clinux_v4l2_format) throws(CaptureError) -> FieldOrder {
        switch v4l2_field(raw.field) {
        case V4L2_FIELD_INTERLACED_TB: return .topFirst
        case V4L2_FIELD_INTERLACED_BT: return .bottomFirst
        // Television of 525 lines begins with the bottom field, all other with the top one.
        case V4L2_FIELD_INTERLACED: return [480, 486].contains(raw.height) ? .bottomFirst : .topFirst
        case V4L2_FIELD_SEQ_TB, V4L2_FIELD_SEQ_BT:
            throw CaptureError(
                .noSuchFormat,
                "the driver of \(path) puts the two fields of a frame one behind the other, which is not read here"
            )
        // A field for itself is a picture of half the height.
        default: return .progressive
        }
    }

    private func check(_ format: VideoFormat, against request: VideoFormatRequest) throws(CaptureError) {
        let isMet =
            format.pixelFormat == request.pixelFormat ?? format.pixelFormat
            && format.width == request.width ?? format.width && format.height == request.height ?? format.height
        let rate = request.framesPerSecond
        guard isMet, rate.map({ format.interval.matches($0) }) ?? true else {
            throw CaptureError(.noSuchFormat, "the driver of \(path) gives \(format) instead of what was asked")
        }
    }
}

/// An element of a C array of four.
@inline(__always)
func element(_ array: (UInt32, UInt32, UInt32, UInt32), _ index: Int) -> UInt32 {
    switch index {
    case 0: array.0
    case 1: array.1
    case 2: array.2
    case 3: array.3
    default: 0
    }
}
