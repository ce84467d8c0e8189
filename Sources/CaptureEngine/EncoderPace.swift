import CaptureCore

/// What movies that lost frames told about how fast this machine encodes: the user's next one of the same pictures begins
/// with a faster preset. Each user's own, since a pipe that is read slowly loses frames, too. Forgotten when the daemon ends.
struct EncoderPace {
    /// Whose pictures, and what decides how much work they are.
    private struct Pictures: Hashable {
        var user: UInt32
        var width: Int
        var height: Int
        var interval: FrameInterval

        init(_ format: VideoFormat, of user: UInt32) {
            self.user = user
            (width, height, interval) = (format.width, format.height, format.interval)
        }
    }

    /// One frame of a movie may be lost, and one more of so many.
    private static let tolerated: UInt64 = 50

    private var presets: [Pictures: String] = [:]

    /// The output, with the preset that its pictures need if it leaves the choice to the machine.
    func fitted(_ output: OutputDescription, to format: VideoFormat?, for user: UInt32) -> OutputDescription {
        guard output.encoderPreset == "auto", let format, let preset = presets[Pictures(format, of: user)] else {
            return output
        }
        var fitted = output
        fitted.encoderPreset = preset
        return fitted
    }

    /// Takes how a movie went.
    mutating func note(
        _ statistics: OutputStatistics,
        of output: OutputDescription,
        from format: VideoFormat?,
        for user: UInt32
    ) {
        guard output.encoderPreset == "auto", let format,
            let faster = OutputDescription.encoderPreset(fasterThan: statistics.encoderPreset),
            statistics.missedFrames > 1 + (statistics.frames + statistics.missedFrames) / Self.tolerated
        else { return }
        presets[Pictures(format, of: user)] = faster
    }
}
