import CLinux
import CaptureSystem
import Glibc

/// The driver's own buffers, mapped: the pool owns the mappings and takes them down at its end.
///
/// Frames are copied from here into a ring. Readers are not given the buffers themselves (VIDIOC_EXPBUF): the kernel
/// keeps a read-only export from being mapped writable, but not from being queued to another device, which then writes
/// into it. So one reader could change what all others see. v4l2loopback exports none.
///
/// Thread-bound, to the capture loop that holds it.
final class MappedPool {
    private struct Mapping {
        var address: UInt
        var length: Int
    }

    let count: Int
    private let planes: Int
    private var mappings: [Mapping] = []

    /// Asks for buffers and maps them; those of a failed attempt are given back.
    init(_ node: V4L2Node, count wanted: Int, planes: Int) throws(SystemError) {
        var granted = UInt32(wanted)
        try SystemError.check("get \(wanted) buffers of \(node.path)") {
            unsafe clinux_v4l2_request_buffers(
                node.descriptor,
                node.bufferType,
                V4L2_MEMORY_MMAP.rawValue,
                &granted
            )
        }
        count = min(Int(granted), 32)
        self.planes = planes
        guard count > 0 else { throw SystemError("get buffers of \(node.path)", errno: ENOMEM) }
        for index in 0..<count {
            try map(node, UInt32(index))
        }
    }

    deinit { unmap() }

    /// Takes the mappings down: before REQBUFS gives the buffers back, since older kernels refuse it while mapped.
    func unmap() {
        for mapping in mappings { unsafe munmap(UnsafeMutableRawPointer(bitPattern: mapping.address), mapping.length) }
        mappings = []
    }

    /// One plane of a buffer.
    func memory(ofBuffer index: Int, plane: Int) -> UnsafeRawBufferPointer {
        let mapping = mappings[index * planes + plane]
        return unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: mapping.address),
            count: mapping.length
        )
    }

    private func map(_ node: V4L2Node, _ index: UInt32) throws(SystemError) {
        var offset: [UInt32] = [0, 0, 0, 0]
        var length: [UInt32] = [0, 0, 0, 0]
        try SystemError.check("find buffer \(index) of \(node.path)") {
            unsafe clinux_v4l2_query_buffer(
                node.descriptor,
                node.bufferType,
                index,
                UInt32(planes),
                &offset,
                &length
            )
        }
        for plane in 0..<planes {
            let size = Int(length[plane])
            let address = unsafe mmap(
                nil,
                size,
                PROT_READ | PROT_WRITE,
                MAP_SHARED,
                node.descriptor,
                off_t(offset[plane])
            )
            guard let address = unsafe address, unsafe address != MAP_FAILED else {
                throw SystemError("map buffer \(index) of \(node.path)", errno: errno)
            }
            mappings.append(Mapping(address: UInt(bitPattern: address), length: size))
        }
    }
}
