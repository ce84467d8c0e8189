import Authorization
import CLinux
import CaptureCore
import CaptureSystem
import Glibc

extension V4L2Node {
    /// Opens the node of a described camera, for someone who may.
    ///
    /// - Throws: `notPermitted`, `revoked`, `noSuchDevice`, `busy`.
    static func open(_ device: DeviceDescription, grant: Grant) throws(CaptureError) -> V4L2Node {
        try grant.require(.camera)
        guard let path = device.aliases.first(where: { $0.hasPrefix("/dev/video") }) else {
            throw CaptureError(.noSuchDevice, "the camera \(device.id) has no device node")
        }
        let node = try open(path)
        // Numbers are given anew when devices come and go.
        guard node.driver == device.driver, node.bus == device.bus, node.isCamera else {
            throw CaptureError(.noSuchDevice, "\(path) is not the camera \(device.name) any more")
        }
        return node
    }

    /// Opens the metadata node of a described camera, for someone who may.
    ///
    /// - Throws: `notPermitted`, `revoked`, `noSuchDevice`, `busy`.
    static func openMetadata(of device: DeviceDescription, grant: Grant) throws(CaptureError) -> V4L2Node {
        try grant.require(.camera)
        guard let path = device.metadata?.node, !path.isEmpty else {
            throw CaptureError(.noSuchDevice, "the camera \(device.id) has no node with metadata")
        }
        let node = try open(path)
        guard node.driver == device.driver, node.bus == device.bus, node.isMetadata else {
            throw CaptureError(.noSuchDevice, "\(path) is not the metadata of the camera \(device.name) any more")
        }
        return node
    }

    private static func open(_ path: String) throws(CaptureError) -> V4L2Node {
        do throws(SystemError) {
            return try V4L2Node(path: path)
        } catch {
            throw openFailure(error, path)
        }
    }

    private static func openFailure(_ error: SystemError, _ path: String) -> CaptureError {
        switch error.errno {
        case ENOENT, ENODEV, ENXIO: CaptureError(.noSuchDevice, "the camera \(path) is not there any more")
        case EBUSY: NodeHolders.busy(path, "the camera \(path)")
        case EACCES, EPERM:
            CaptureError(.notPermitted, "the daemon may not open \(path); is it in the group of video devices?")
        default: CaptureError(.inputOutput, error)
        }
    }

    /// How many slots the driver should hold while it streams into slots; 1 where frames are copied.
    ///
    /// - Throws: `busy` naming who has the node's buffers.
    func depth(for format: VideoFormat) throws(CaptureError) -> DriverDepth {
        // A driver answers a request for one buffer with the least it needs. User pointers cost no memory.
        var least: UInt32 = 1
        var memory = V4L2_MEMORY_USERPTR.rawValue
        do throws(SystemError) {
            if unsafe clinux_v4l2_request_buffers(descriptor, bufferType, memory, &least) == -1 {
                memory = V4L2_MEMORY_MMAP.rawValue
                least = 1
                try SystemError.check("get a buffer of \(path)") {
                    unsafe clinux_v4l2_request_buffers(descriptor, bufferType, memory, &least)
                }
            }
        } catch {
            throw failure(error, otherwise: .inputOutput)
        }
        var none: UInt32 = 0
        _ = unsafe clinux_v4l2_request_buffers(descriptor, bufferType, memory, &none)
        if memory == V4L2_MEMORY_MMAP.rawValue { return DriverDepth(first: 1, steady: 1) }
        // Small frames are cheap to have in plenty, and come at the highest rates.
        let wanted = format.frameSize <= 1 << 20 ? 8 : format.frameSize <= 8 << 20 ? 6 : 4
        let steady = min(max(wanted, Int(least) + 2), 20)
        return DriverDepth(first: min(max(3, Int(least) + 1), steady), steady: steady)
    }
}
