import CaptureCore

/// What a file says of its making: when, with which devices, and by this program.
struct FileFacts: Sendable {
    /// The program, as in `Captured 1.0.0`.
    static let software = "Captured \(CaptureVersion.text)"

    /// The devices.
    let origin: CaptureOrigin
    /// When its first picture or sample was captured.
    let date: WallTime
    /// What its program says of it.
    let tags: [FileTag: String]

    /// Of a file that begins with what was captured at a time.
    init(_ origin: CaptureOrigin, _ tags: [FileTag: String] = [:], at time: Timestamp) {
        self.origin = origin
        self.tags = tags
        date = WallTime(time)
    }

    /// The program that it names.
    var program: String { tags[.software] ?? FileFacts.software }

    /// The keys that libavformat knows in a container, with their values.
    func tags(of container: Muxer.Container) -> [(String, String)] {
        let all: [(String, String)]
        switch container {
        case .matroska:
            all =
                [
                    // DateUTC and WritingApp; the others become tags.
                    ("creation_time", date.utc), ("encoding_tool", FileFacts.software), ("DATE_RECORDED", date.iso),
                    ("ENCODED_BY", program), ("CAMERA", origin.camera), ("MICROPHONE", origin.microphone),
                ] + ownTags
        case .mp4, .mov, .m4a:
            // The time of `mvhd`, and keys as Apple's cameras write them.
            all =
                [
                    ("creation_time", date.utc), ("com.apple.quicktime.creationdate", date.iso),
                    ("com.apple.quicktime.make", origin.cameraMaker), ("com.apple.quicktime.model", origin.camera),
                    ("com.apple.quicktime.software", program),
                ] + quickTimeTags
        case .ogg, .flac:
            all =
                [
                    ("DATE", date.iso), ("ENCODED_BY", program), ("MICROPHONE", origin.microphone),
                ] + ownTags
        }
        return all.filter { !$0.1.isEmpty }
    }

    /// What its program says, by the names that Matroska, FLAC and Ogg have for it.
    private var ownTags: [(String, String)] {
        let names: [(FileTag, String)] = [
            (.title, "TITLE"), (.description, "DESCRIPTION"), (.author, "ARTIST"), (.copyright, "COPYRIGHT"),
            (.comment, "COMMENT"), (.location, "LOCATION"),
        ]
        return names.map { ($0.1, tags[$0.0] ?? "") }
    }

    /// The same by Apple's names.
    private var quickTimeTags: [(String, String)] {
        FileTag.allCases.filter { $0 != .software }.map { tag in
            let name = tag == .location ? "location.ISO6709" : tag.rawValue
            return ("com.apple.quicktime.\(name)", tags[tag] ?? "")
        }
    }

    /// The name of a stream: that of its device.
    func name(of kind: MediaType) -> String { kind == .video ? origin.camera : origin.microphone }
}
