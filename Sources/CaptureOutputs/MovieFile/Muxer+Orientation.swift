import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

extension PictureOrientation {
    /// How an output's pictures are to be turned and mirrored.
    init(_ settings: ConnectionSettings) {
        self.init(isMirrored: settings.isMirrored, quarters: settings.rotation / 90)
    }
}

extension Muxer {
    /// Says how players are to turn and mirror the pictures, before the header is written.
    func setOrientation(_ turn: PictureOrientation) throws(CaptureError) {
        guard let stream = unsafe video else { return }
        let result: Int32
        if container == .matroska {
            // In degrees counterclockwise, after a half turn around the upright axis, which mirrors (RFC 9559, 5.1.4.1.28).
            let (isMirrored, quarters) = turn.parts
            let roll = Int32([0, -90, 180, 90][quarters])
            unsafe result = cav_set_pose(stream, isMirrored ? 180 : 0, roll)
            setsProjection()
        } else {
            let (right, down) = turn.steps
            let size = unsafe (
                x: Int(stream.pointee.codecpar.pointee.width), y: Int(stream.pointee.codecpar.pointee.height)
            )
            // Moved so that the upright picture begins at 0.
            let left = min(0, right.x * size.x, down.x * size.y)
            let top = min(0, right.y * size.x, down.y * size.y)
            let whole = 1 << 16
            let matrix = [
                right.x * whole, right.y * whole, 0, down.x * whole, down.y * whole, 0, -left * whole, -top * whole,
                1 << 30,
            ].map { Int32(clamping: $0) }
            unsafe result = matrix.withUnsafeBufferPointer { unsafe cav_set_display_matrix(stream, $0.baseAddress) }
        }
        try LibAV.check("say how the pictures are turned", result)
    }
}
