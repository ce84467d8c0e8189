/// How pictures and sound are changed on their way from the inputs into one output.
public struct ConnectionSettings: Hashable, Sendable {
    /// The turns that pictures can be given, in degrees.
    public static let rotations = [0, 90, 180, 270]
    /// The gain that sound can be given, in decibels.
    public static let gains = -60.0...40.0
    /// The number of channels that can be chosen at most.
    public static let mostChannels = 64

    /// How far the picture is turned clockwise, in degrees: one of `rotations`.
    public var rotation = 0
    /// Whether the picture is mirrored left to right, before it is turned.
    public var isMirrored = false
    /// The microphone's channels that are taken, counted from 0, in the order of the output's; empty for all.
    public var channels: [Int] = []
    /// The gain of the sound in decibels, within `gains`; 0 leaves it as it is.
    public var gain = 0.0

    /// Everything as it comes.
    public init() {}

    /// Refuses values that are out of range.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` naming the value, and what would be right.
    public func check() throws(CaptureError) {
        guard Self.rotations.contains(rotation) else {
            throw CaptureError(
                .invalidArgument,
                "pictures cannot be turned by \(rotation) degrees, only by 0, 90, 180 or 270"
            )
        }
        guard Self.gains.contains(gain) else {
            throw CaptureError(.invalidArgument, "a gain of \(gain) dB is out of range: -60 to 40 dB")
        }
        guard channels.count <= Self.mostChannels, channels.allSatisfy({ (0...255).contains($0) }) else {
            throw CaptureError(
                .invalidArgument,
                "channels \(channels) cannot be chosen: give at most \(Self.mostChannels), each a number from 0 to 255"
            )
        }
        guard Set(channels).count == channels.count else {
            throw CaptureError(.invalidArgument, "channels \(channels) cannot be chosen: one of them is there twice")
        }
    }
}

extension OutputDescription {
    /// The outputs of which pictures can be turned and mirrored.
    private static let turned: [OutputKind] = [.movie, .photo, .photos]

    /// Refuses connection settings that this output cannot have.
    ///
    /// - Parameters:
    ///   - hasPictures: Whether a camera feeds it.
    ///   - hasSound: Whether a microphone feeds it.
    /// - Throws: `CaptureError.Code.invalidArgument` naming the setting, and the outputs that can have it.
    public func checkSettings(hasPictures: Bool, hasSound: Bool) throws(CaptureError) {
        try settings.check()
        if settings.rotation != 0 { try refuse("a rotation", Self.turned, hasPictures, "camera") }
        if settings.isMirrored { try refuse("mirroring", Self.turned, hasPictures, "camera") }
        if !settings.channels.isEmpty { try refuse("a choice of channels", [.movie, .sound], hasSound, "microphone") }
        if settings.gain != 0 { try checkGain(hasSound: hasSound) }
    }

    /// Refuses a gain, whatever it is, that this output cannot have.
    ///
    /// - Parameter hasSound: Whether a microphone feeds it.
    /// - Throws: `CaptureError.Code.invalidArgument` naming the outputs that can have it.
    public func checkGain(hasSound: Bool) throws(CaptureError) {
        try refuse("a gain", [.movie, .sound], hasSound, "microphone")
    }

    private func refuse(
        _ what: String,
        _ kinds: [OutputKind],
        _ isFed: Bool,
        _ device: String
    ) throws(CaptureError) {
        guard kinds.contains(kind) else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is of kind \(kind.rawValue); \(what) is for "
                    + (kinds.contains(.photo) ? "movies and photos alone" : "movies and sounds alone")
            )
        }
        guard isFed else {
            throw CaptureError(.invalidArgument, "no \(device) feeds the output '\(name)', so \(what) is not possible")
        }
    }
}

extension ConnectionSettings {
    /// The settings in a recorder's job.
    var pairs: [(String, String)] {
        [
            ("rotation", "\(rotation)"), ("mirrored", isMirrored ? "1" : "0"),
            ("channels", channels.map { "\($0)" }.joined(separator: " ")), ("sound-gain", "\(gain)"),
        ]
    }

    /// Reads them from a recorder's job.
    init(_ words: inout MessageWords) throws(CaptureError) {
        func number<T: LosslessStringConvertible>(_ key: String, _ text: String, as: T.Type) throws(CaptureError) -> T {
            guard let number = T(text) else {
                throw CaptureError(.badData, "a recorder's job has '\(text)' for '\(key)', which is no number")
            }
            return number
        }
        rotation = try number("rotation", try words.word("rotation"), as: Int.self)
        isMirrored = try words.word("mirrored") == "1"
        for text in try words.word("channels").split(separator: " ") {
            channels.append(try number("channels", String(text), as: Int.self))
        }
        gain = try number("sound-gain", try words.word("sound-gain"), as: Double.self)
        try check()
    }
}
