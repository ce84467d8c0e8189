import CLinux
import CaptureCore
import CaptureSystem

/// How a stream stands still while the control side does not prove itself.
extension CaptureLoop {
    /// Stops the stream, so that the driver fills no memory any more, and starts it again when there is a proof of life.
    ///
    /// The buffers stay the driver's, so that nobody else sets the camera to another format meanwhile.
    ///
    /// - Returns: Whether the thread is to stop.
    /// - Throws: When the driver does not stop or does not start again.
    func pause() throws(SystemError) -> Bool {
        try halt()
        // It may be told to go on elsewhere meanwhile: nothing of the driver's lies in the sink before.
        if try control.waitForProof(&sink) { return true }
        try goOn()
        return false
    }

    private func halt() throws(SystemError) {
        try SystemError.check("pause \(node.path)") {
            clinux_v4l2_stream(node.descriptor, node.bufferType, 0)
        }
        takeBack()
        restart = restart ?? lastStamp.map { Restart(after: $0, cause: .paused) }
    }

    private func goOn() throws(SystemError) {
        inspector.sequence.restart()
        try refill()
        do {
            try SystemError.check("go on with \(node.path)") {
                clinux_v4l2_stream(node.descriptor, node.bufferType, 1)
            }
        } catch {
            // Some drivers start with new buffers alone.
            end()
            try begin()
        }
    }
}
