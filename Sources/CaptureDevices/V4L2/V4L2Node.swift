import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// An open video node and what its driver says about itself.
///
/// Thread-safe: the kernel serializes the calls; nothing here changes after `init`.
final class V4L2Node: Sendable {
    /// As in `/dev/video0`.
    let path: String
    let file: Descriptor
    let driver: String
    /// The driver's readable name, as it stands.
    let card: String
    let bus: String
    /// `V4L2_CAP_…` of this node, not of the whole device.
    let capabilities: UInt32

    var descriptor: Int32 { file.descriptor }

    /// Opens a node without blocking and asks what it is.
    ///
    /// - Throws: The system's error; ENOTTY for a node that is not V4L2's.
    init(path: String) throws(SystemError) {
        self.path = path
        file = try Descriptor.open(path, O_RDWR | O_NONBLOCK)
        var capability = clinux_v4l2_capability()
        let descriptor = file.descriptor
        try SystemError.check("ask \(path) what it is") { unsafe clinux_v4l2_capability(descriptor, &capability) }
        driver = text(of: capability.driver)
        card = text(of: capability.card)
        bus = text(of: capability.bus)
        capabilities = capability.capabilities
    }

    /// Whether frames come out of it for programs: no metadata, output, touch or memory-to-memory node.
    var isCamera: Bool { V4L2Node.isCamera(capabilities, driver: driver) }

    /// Whether it speaks the multi-planar API.
    var isMultiplanar: Bool { capabilities & UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0 }

    /// Whether the metadata of a camera's frames comes out of it.
    var isMetadata: Bool {
        let wanted = UInt32(V4L2_CAP_META_CAPTURE) | UInt32(V4L2_CAP_STREAMING)
        return capabilities & wanted == wanted && !isCamera
    }

    /// `enum v4l2_buf_type`.
    var bufferType: UInt32 {
        if isMetadata { return V4L2_BUF_TYPE_META_CAPTURE.rawValue }
        return isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    }

    /// The driver whose frames another program writes.
    static let loopback = "v4l2 loopback"

    /// The rule behind `isCamera`, for any capabilities.
    static func isCamera(_ capabilities: UInt32, driver: String) -> Bool {
        func has(_ flags: Int32...) -> Bool {
            flags.contains { capabilities & UInt32(bitPattern: $0) != 0 }
        }
        guard has(V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_VIDEO_CAPTURE_MPLANE), has(V4L2_CAP_STREAMING),
            !has(V4L2_CAP_TOUCH)
        else { return false }
        // A loopback made without `exclusive_caps` calls itself all at once; it is a camera all the same.
        if driver == loopback { return true }
        return !has(
            V4L2_CAP_VIDEO_M2M,
            V4L2_CAP_VIDEO_M2M_MPLANE,
            V4L2_CAP_VIDEO_OUTPUT,
            V4L2_CAP_VIDEO_OUTPUT_MPLANE
        )
    }
}

/// The text in a C array of bytes, up to its zero.
func text<Bytes>(of bytes: Bytes) -> String {
    unsafe withUnsafeBytes(of: bytes) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
