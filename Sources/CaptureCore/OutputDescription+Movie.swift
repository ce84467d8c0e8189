/// What a movie alone can have.
extension OutputDescription {
    /// Nanoseconds of a fragment, unless something else is asked for.
    public static let usualFragmentInterval: Int64 = 500_000_000
    /// The fragments that can be asked for, in nanoseconds: 0.1 s to 30 s, which is as much as a cluster of Matroska holds.
    public static let fragmentIntervals: ClosedRange<Int64> = 100_000_000...30_000_000_000

    /// Refuses fragments that are out of range, or of what is no movie.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` with what would be right.
    public func checkFragments() throws(CaptureError) {
        guard fragmentInterval != Self.usualFragmentInterval else { return }
        guard kind == .movie else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is no movie, so it has no fragments; leave their interval out"
            )
        }
        guard Self.fragmentIntervals.contains(fragmentInterval) else {
            throw CaptureError(
                .invalidArgument,
                "fragments of \(Double(fragmentInterval) / 1e9) s are out of range: 0.1 s to 30 s"
            )
        }
    }

    /// The longest pre-roll in nanoseconds.
    public static let longestPreRoll: Int64 = 300_000_000_000

    /// Refuses a pre-roll of what is no movie.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` with what would be right.
    public func checkPreRoll() throws(CaptureError) {
        guard preRoll != 0 else { return }
        guard kind == .movie else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is no movie, so it has no pre-roll; leave it out"
            )
        }
        guard (1...Self.longestPreRoll).contains(preRoll) else {
            throw CaptureError(
                .invalidArgument,
                "a pre-roll of \(Double(preRoll) / 1e9) s is out of range: more than 0, at most \(Self.longestPreRoll / 1_000_000_000) s"
            )
        }
        guard duration == 0 || duration > preRoll, frameCount == 0 else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' ends before its pre-roll does; give a duration that is longer, and no number of frames"
            )
        }
    }

    /// Refuses segments of what is no movie in files of the client's.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` with what would be right.
    public func checkSegments() throws(CaptureError) {
        guard let segments else { return }
        guard kind == .movie, library == nil else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is no movie in files, so it has no segments; leave them out"
            )
        }
        guard maxFileSize == 0 else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' has segments, so it has no greatest size; give the size of a segment"
            )
        }
        try segments.check()
    }
}
