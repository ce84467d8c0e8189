import CLinux
import CaptureCore
import CaptureSystem

/// Stops the stream while the control side does not prove itself.
extension CaptureLoop {
    /// Stops the stream, so that the driver writes no memory any more. Starts it again when there is a new proof of
    /// life.
    ///
    /// The driver keeps the buffers, so that no other program can change the camera's format meanwhile.
    ///
    /// - Returns: Whether the thread must stop.
    /// - Throws: If the driver does not stop or does not start again.
    func pause() throws(SystemError) -> Bool {
        try halt(.paused)
        // An order may move the stream to another sink. The driver must hold no slot of the old sink by then.
        if try control.waitForProof(&sink) { return true }
        try goOn()
        return false
    }

    /// Turns streaming off.
    ///
    /// - Parameter cause: Why frames are lost until it is on again.
    func halt(_ cause: DropCause) throws(SystemError) {
        try SystemError.check("pause \(node.path)") {
            clinux_v4l2_stream(node.descriptor, node.bufferType, 0)
        }
        takeBack()
        restart = restart ?? lastStamp.map { Restart(after: $0, cause: cause) }
    }

    /// Turns streaming on again.
    func goOn() throws(SystemError) {
        inspector.sequence.restart()
        try refill()
        do {
            try SystemError.check("go on with \(node.path)") {
                clinux_v4l2_stream(node.descriptor, node.bufferType, 1)
            }
        } catch {
            // Some drivers start only with new buffers.
            end()
            try begin()
        }
    }
}
