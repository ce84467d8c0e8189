/// Sound into a file.
public struct SoundFileOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The open file.
    public let file: Descriptor?
    /// What is asked of the recorder.
    public let description: OutputDescription
    /// One microphone.
    public var mediaTypes: [MediaType] { [.audio] }

    /// A sound file.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing.
    ///   - name: The name in the session.
    ///   - format: `wav` (RF64 past 4 GiB), `flac` or `opus`.
    ///   - duration: Seconds after which the file is finished by itself; `nil` for no end.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "sound",
        format: String = "wav",
        duration: Double? = nil
    ) throws(CaptureError) {
        try Self.check(format, among: OutputDescription.formats(of: .sound), of: "sound format")
        self.name = name
        self.file = file
        description = OutputDescription(
            name: name,
            kind: .sound,
            format: format,
            duration: try Self.nanoseconds(duration)
        )
    }
}
