/// How loud one channel of sound was over a twentieth of a second, in decibels: 0 is full scale, and what is quieter is negative.
public struct AudioLevel: Hashable, Sendable {
    /// How often levels are measured in a second of sound.
    public static let perSecond = 20
    /// The channels of an output that are measured at most, the first ones.
    public static let mostChannels = 64
    /// The level of digital silence, and the least one.
    public static let silence = -160.0
    /// The range of a level. Only samples of floating point go above 0.
    public static let range = silence...200.0

    /// The average power: -3 for a tone of full scale, 0 for a square wave.
    public var average: Double
    /// The loudest sample.
    public var peak: Double

    /// A level of the given average and peak, in decibels.
    public init(average: Double = silence, peak: Double = silence) {
        self.average = average
        self.peak = peak
    }
}

extension [AudioLevel] {
    /// The levels of an output's channels as text, as in `-23.01/-20 -160/-160`.
    var text: String { map { "\($0.average)/\($0.peak)" }.joined(separator: " ") }

    /// Reads levels from a recorder's text.
    init(text: String) throws(CaptureError) {
        self = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
            guard count < AudioLevel.mostChannels, parts.count == 2, let average = parts[0], let peak = parts[1],
                AudioLevel.range.contains(average), AudioLevel.range.contains(peak)
            else { throw CaptureError(.badData, "a recorder reports '\(text.prefix(100))', which cannot be levels") }
            append(AudioLevel(average: average, peak: peak))
        }
    }
}
