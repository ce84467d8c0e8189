import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Checks everything that the driver says before it is used. A driver that says something impossible gets no second
/// chance: the stream ends with EPROTO, and the error's action quotes the driver.
extension CaptureLoop {
    /// How many frames pass between two looks at the format, which may change to another one of the same size.
    private static let formatInterval: UInt32 = 64
    /// How many wake-ups in a row may bring no frame.
    private static let mostFruitless = 1000

    /// Checks a buffer that DQBUF returned, before its index and sizes are used.
    func check(_ raw: clinux_v4l2_buffer) throws(SystemError) {
        guard raw.index < 32, queued & 1 << raw.index != 0 else {
            throw lie("returned buffer \(raw.index), which was not queued")
        }
        if raw.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 { return }
        for plane in 0..<planeCount {
            let used = element(raw.used, plane)
            let room = unsafe pool?.memory(ofBuffer: Int(raw.index), plane: plane).count ?? Int(layout[4 + plane])
            guard Int(used) <= room else {
                throw lie("reports \(used) bytes in buffer \(raw.index), which holds \(room)")
            }
        }
        untilFormat -= 1
        let used = element(raw.used, 0)
        // Raw frames all have the same size; the size of a compressed one says nothing.
        guard untilFormat == 0 || (used != usualBytes && !format.pixelFormat.isCompressed) else { return }
        usualBytes = used
        try checkFormat()
    }

    /// Checks that the driver still has the format that was agreed on.
    func checkFormat() throws(SystemError) {
        untilFormat = CaptureLoop.formatInterval
        var now = clinux_v4l2_format()
        // If the driver does not answer, the stream fails in other ways.
        guard unsafe clinux_v4l2_get_format(node.descriptor, node.bufferType, &now) == 0 else { return }
        let isHeld =
            now.pixelformat == format.pixelFormat.rawValue && Int(now.width) == format.width
            && Int(now.height) == format.height
        let stride = Int(element(now.stride, 0))
        guard isHeld, format.pixelFormat.isCompressed || stride == format.planes[0].stride else {
            let name = "\(PixelFormat(rawValue: now.pixelformat)) \(now.width)x\(now.height)"
            let agreed = "\(format.pixelFormat) \(format.width)x\(format.height)"
            throw lie("changed its format to \(name) in rows of \(stride) bytes, from \(agreed)")
        }
    }

    /// Counts a wake-up that brought no frame.
    func countFruitless() throws(SystemError) {
        fruitless += 1
        guard fruitless <= CaptureLoop.mostFruitless else {
            throw lie("keeps announcing a frame and returns none")
        }
    }

    private func lie(_ what: String) -> SystemError {
        SystemError("its driver \(what)", errno: EPROTO)
    }
}
