/// A command of the daemon to a running recorder.
public enum RecorderCommand: Hashable, Sendable {
    /// Finish the file with what was published until that time, even if the command arrives later.
    case stop(at: Timestamp)
    /// Go on with the picture's ring that comes along as a descriptor.
    case videoMoved
    /// Go on with the sound's ring that comes along as a descriptor.
    case audioMoved
    /// Leave out what is captured from that time on, until the command to go on.
    case pause(at: Timestamp)
    /// Go on with what is captured from that time on.
    case resume(at: Timestamp)
    /// Begin a chapter at that time.
    case mark(RecordingMarker, at: Timestamp)
    /// Put this into the movie's metadata at that time.
    case note(TimedMetadata, at: Timestamp)
    /// Here is another file to write, as a descriptor that comes along: of a burst, or of a movie in segments.
    case file
    /// Begin the movie that waits, with what was captured before that time.
    case begin(at: Timestamp)
    /// Go on in the next file with what is captured from that time on.
    case cut(at: Timestamp)
    /// Take what is captured of a kind from that time on.
    case enable(MediaType, at: Timestamp)
    /// Leave pictures out, or write silence in the place of sound, from that time on.
    case disable(MediaType, at: Timestamp)
    /// Make sound louder by so many decibels from now on.
    case setGain(Double)
    /// Take the next picture, of a camera that was set for it by that time.
    case shoot(PictureOrder, at: Timestamp)
    /// Report the levels of sound twenty times a second, or no more.
    case watchLevels(Bool)

    /// The command as text.
    public var text: String {
        switch self {
        case .stop(let time): Self.text("stop", time)
        case .pause(let time): Self.text("pause", time)
        case .resume(let time): Self.text("resume", time)
        case .cut(let time): Self.text("cut", time)
        case .begin(let time): Self.text("begin", time)
        case .mark(let marker, let time):
            KeyValueText.encode([("message", "mark"), ("at", "\(time.nanoseconds)"), ("title", marker.title)])
        case .note(let metadata, let time):
            KeyValueText.encode([("message", "note"), ("at", "\(time.nanoseconds)"), ("text", metadata.text)])
        case .enable(let kind, let time): Self.text("enable", time, kind)
        case .disable(let kind, let time): Self.text("disable", time, kind)
        case .setGain(let gain): KeyValueText.encode([("message", "gain"), ("decibels", "\(gain)")])
        case .watchLevels(let isWatched):
            KeyValueText.encode([("message", "levels"), ("watched", isWatched ? "1" : "0")])
        case .shoot(let order, let time):
            KeyValueText.encode([("message", "shoot"), ("at", "\(time.nanoseconds)")] + order.pairs)
        case .videoMoved: KeyValueText.encode([("message", "video-moved")])
        case .audioMoved: KeyValueText.encode([("message", "audio-moved")])
        case .file: KeyValueText.encode([("message", "file")])
        }
    }

    /// Reads a command from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` for an unknown command, and one that lacks its time.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("the command '\(values["message"] ?? "")' to a recorder", values)
        func time() throws(CaptureError) -> Timestamp {
            Timestamp(nanoseconds: try words.number("at", in: Int64.min...))
        }
        switch values["message"] ?? "" {
        case "stop": self = .stop(at: try time())
        case "pause": self = .pause(at: try time())
        case "resume": self = .resume(at: try time())
        case "cut": self = .cut(at: try time())
        case "begin": self = .begin(at: try time())
        case "mark": self = .mark(try RecordingMarker(values["title"] ?? ""), at: try time())
        case "note": self = .note(try TimedMetadata(json: values["text"] ?? ""), at: try time())
        case "enable": self = .enable(try Self.kind(of: values), at: try time())
        case "disable": self = .disable(try Self.kind(of: values), at: try time())
        case "gain":
            guard let gain = values["decibels"].flatMap({ Double($0) }), ConnectionSettings.gains.contains(gain) else {
                throw CaptureError(
                    .badData,
                    "the command 'gain' to a recorder lacks its decibels, or they are out of range"
                )
            }
            self = .setGain(gain)
        case "shoot": self = .shoot(try PictureOrder(&words), at: try time())
        case "levels": self = .watchLevels(values["watched"] == "1")
        case "video-moved": self = .videoMoved
        case "audio-moved": self = .audioMoved
        case "file": self = .file
        case let word: throw CaptureError(.badData, "a recorder was told '\(word)', which it does not know")
        }
    }

    private static func text(_ message: String, _ time: Timestamp, _ kind: MediaType? = nil) -> String {
        KeyValueText.encode(
            [("message", message), ("at", "\(time.nanoseconds)")] + (kind.map { [("kind", $0.rawValue)] } ?? [])
        )
    }

    private static func kind(of words: [String: String]) throws(CaptureError) -> MediaType {
        guard let kind = words["kind"].flatMap({ MediaType(rawValue: $0) }) else {
            throw CaptureError(
                .badData,
                "the command '\(words["message"] ?? "")' to a recorder lacks its kind of media"
            )
        }
        return kind
    }
}
