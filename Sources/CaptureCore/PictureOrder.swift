/// Which frame of a camera that was set for it a recorder takes, and what the picture says of that.
public struct PictureOrder: Hashable, Sendable {
    /// The most frames that are passed over.
    public static let mostPassed = 128

    /// How many frames are passed over of those that are captured after the order: they may have been exposed before.
    public var passing: Int
    /// How long the camera exposes, in nanoseconds; 0 if it does not say.
    public var exposure: Int64
    /// How much brighter than usual the picture of a bracket is, in thousandths of an EV; darker if negative. `nil` without a
    /// bracket.
    public var bias: Int64?
    /// Whether the lamp shines; `nil` if that was not asked for.
    public var isLit: Bool?

    /// An order of the given facts.
    public init(passing: Int, exposure: Int64, bias: Int64? = nil, isLit: Bool? = nil) {
        self.passing = min(max(passing, 0), PictureOrder.mostPassed)
        self.exposure = max(exposure, 0)
        self.bias = bias
        self.isLit = isLit
    }
}

extension PictureOrder {
    /// As commands to recorders have it.
    var pairs: [(String, String)] {
        [
            ("passing", "\(passing)"), ("exposure", "\(exposure)"), ("bias", bias.map { "\($0)" } ?? ""),
            ("lit", isLit.map { $0 ? "1" : "0" } ?? ""),
        ]
    }

    /// Reads it.
    ///
    /// - Throws: `badData` naming the word that is missing or wrong.
    init(_ words: inout MessageWords) throws(CaptureError) {
        self.init(
            passing: try words.number("passing", in: 0...PictureOrder.mostPassed),
            exposure: try words.number("exposure", in: 0...1 << 62),
            bias: try words.numberIfAny("bias", in: -1_000_000...1_000_000),
            isLit: try words.numberIfAny("lit", in: 0...1).map { $0 == 1 }
        )
    }
}
