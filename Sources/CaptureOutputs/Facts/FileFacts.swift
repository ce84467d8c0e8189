import CaptureCore

/// What a file says of its making: when, with which devices, and by this program.
struct FileFacts: Sendable {
    /// The program, as in `Captured 1.0.0`.
    static let software = "Captured \(CaptureVersion.text)"

    /// The devices.
    let origin: CaptureOrigin
    /// When its first picture or sample was captured.
    let date: WallTime

    /// Of a file that begins with what was captured at a time.
    init(_ origin: CaptureOrigin, at time: Timestamp) {
        self.origin = origin
        date = WallTime(time)
    }

    /// The keys that libavformat knows in a container, with their values.
    func tags(of container: Muxer.Container) -> [(String, String)] {
        let all: [(String, String)]
        switch container {
        case .matroska:
            all = [
                // DateUTC and WritingApp; the others become tags.
                ("creation_time", date.utc), ("encoding_tool", FileFacts.software), ("DATE_RECORDED", date.iso),
                ("ENCODED_BY", FileFacts.software), ("CAMERA", origin.camera), ("MICROPHONE", origin.microphone),
            ]
        case .mp4, .mov, .m4a:
            // The time of `mvhd`, and keys as Apple's cameras write them.
            all = [
                ("creation_time", date.utc), ("com.apple.quicktime.creationdate", date.iso),
                ("com.apple.quicktime.make", origin.cameraMaker), ("com.apple.quicktime.model", origin.camera),
                ("com.apple.quicktime.software", FileFacts.software),
            ]
        case .ogg, .flac:
            all = [
                ("DATE", date.iso), ("ENCODED_BY", FileFacts.software), ("MICROPHONE", origin.microphone),
            ]
        }
        return all.filter { !$0.1.isEmpty }
    }

    /// The name of a stream: that of its device.
    func name(of kind: MediaType) -> String { kind == .video ? origin.camera : origin.microphone }
}
