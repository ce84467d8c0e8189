public import Authorization
import CLinux
public import CaptureCore
public import CaptureSystem
import Glibc

extension V4L2 {
    /// Opens the metadata node of a camera, which delivers one small buffer a frame. It has a thread of its own, so that
    /// whatever it does, the camera's frames come as before.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - grant: A live grant for cameras: the one that opens the camera.
    ///   - proof: The node stands still while this proof is missing.
    ///   - frames: Where the camera notes its frames.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `busy` naming who holds the node, `inputOutput`
    ///   for a driver that does not keep to its word.
    public static func openMetadata(
        of device: DeviceDescription,
        grant: Grant,
        proof: ProofOfLife = ProofOfLife(),
        frames: FrameNumbers = FrameNumbers()
    ) throws(CaptureError) -> DeviceSource {
        let node = try V4L2Node.openMetadata(of: device, grant: grant)
        let format = try node.configureMetadata(device.metadata?.formats.first)
        let number = node.path.split(separator: "/").last.map(String.init) ?? "node"
        let name = "the metadata of the camera \(device.name)"
        return DeviceSource(name, thread: "meta-\(number)", .metadata(format), of: format.capacity, proof) {
            (sink) throws(CaptureError) in
            do throws(SystemError) {
                return try MetadataLoop(node, name: device.name, format, frames: frames, sink: sink)
            } catch {
                throw node.failure(error)
                    ?? CaptureError(
                        .inputOutput,
                        "the driver of \(node.path), \(name), does not start: " + SystemError.text(of: error.errno),
                        errno: error.errno
                    )
            }
        }
    }
}

extension V4L2Node {
    /// Formats that tell more than others, the best first.
    private static let richer: [PixelFormat] = [.uvcD4XX, .uvcMicrosoft]
    /// A bound for drivers whose enumeration does not end.
    private static let mostMetadataFormats: UInt32 = 16

    /// The formats of metadata that the node offers, the one to take first.
    func metadataFormats() -> [PixelFormat] {
        var formats: [PixelFormat] = []
        var raw = clinux_v4l2_option()
        for index in 0..<Self.mostMetadataFormats {
            guard unsafe clinux_v4l2_enum_format(descriptor, bufferType, index, &raw) == 0 else { break }
            let format = PixelFormat(rawValue: raw.pixelformat)
            if !formats.contains(format) { formats.append(format) }
        }
        return Self.richer.filter(formats.contains) + formats.filter { !Self.richer.contains($0) }
    }

    /// Sets the format of metadata.
    ///
    /// - Throws: `busy`, `inputOutput` for a driver that refuses, or has buffers of no size or of one beyond all reason.
    func configureMetadata(_ wanted: PixelFormat?) throws(CaptureError) -> MetadataFormat {
        var format = clinux_v4l2_format()
        do throws(SystemError) {
            try SystemError.check("ask \(path) for its format") {
                unsafe clinux_v4l2_get_format(descriptor, bufferType, &format)
            }
            if let wanted, format.pixelformat != wanted.rawValue {
                format.pixelformat = wanted.rawValue
                try SystemError.check("set the format of \(path)") {
                    unsafe clinux_v4l2_set_format(descriptor, bufferType, &format)
                }
            }
        } catch {
            throw failure(error, otherwise: .inputOutput)
        }
        let size = Int(element(format.size, 0))
        guard (1...MetadataFormat.mostBytes).contains(size) else {
            throw CaptureError(
                .inputOutput,
                "the driver of \(path) reports metadata of \(size) bytes, which cannot be: 1 to \(MetadataFormat.mostBytes)"
            )
        }
        return MetadataFormat(code: PixelFormat(rawValue: format.pixelformat), capacity: size)
    }
}
