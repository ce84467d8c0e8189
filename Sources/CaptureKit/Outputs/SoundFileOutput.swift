/// Sound into a file.
public struct SoundFileOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The open file; `nil` for one that is saved into the media library.
    public let file: Descriptor?
    /// The output's description for the recorder.
    public let description: OutputDescription
    /// One microphone.
    public var mediaTypes: [MediaType] { [.audio] }

    /// A sound file.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing.
    ///   - name: The name in the session.
    ///   - format: One of `OutputDescription.formats(of: .sound)`. WAV becomes RF64 past 4 GiB.
    ///   - duration: Seconds after which the file is finished by itself; `nil` for no end.
    ///   - maxFileSize: Bytes, at least 65536, that the file may have: it is finished before it grows beyond. `nil` for no
    ///     end.
    ///   - minFreeSpace: Bytes that stay free on the file's disk: it is finished before there are fewer. `nil` for no end.
    ///   - tags: Texts about it for its file, such as the title: those of `FileTag.known(to:)`, each of at most 1000 bytes.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "sound",
        format: String = "wav",
        duration: Double? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil,
        tags: [FileTag: String] = [:]
    ) throws(CaptureError) {
        try self.init(
            file,
            OutputDescription(
                name: name,
                kind: .sound,
                format: format,
                duration: try Self.nanoseconds(duration),
                maxFileSize: try Self.maxFileSize(maxFileSize),
                minFreeSpace: try Self.minFreeSpace(minFreeSpace),
                tags: tags
            )
        )
    }

    /// Sound that is saved into the media library, which needs the consent to add to it. The start asks if that was
    /// never decided. Sound that cannot be saved in the end is kept for the person, to save or discard.
    ///
    /// `destination` says its name and album there; the other parameters are those of a file.
    ///
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        toLibrary destination: LibraryDestination,
        name: String = "sound",
        format: String = "wav",
        duration: Double? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil,
        tags: [FileTag: String] = [:]
    ) throws(CaptureError) {
        try self.init(
            nil,
            OutputDescription(
                name: name,
                kind: .sound,
                format: format,
                duration: try Self.nanoseconds(duration),
                library: destination,
                maxFileSize: try Self.maxFileSize(maxFileSize),
                minFreeSpace: try Self.minFreeSpace(minFreeSpace),
                tags: tags
            )
        )
    }

    /// The output of a description.
    package init(_ file: Descriptor?, _ description: OutputDescription) throws(CaptureError) {
        try Self.check(description.format, among: OutputDescription.formats(of: .sound), of: "sound format")
        do throws(CaptureError) {
            try description.checkTags()
        } catch {
            throw CaptureError(.usage, error.message)
        }
        name = description.name
        self.file = file
        self.description = description
    }
}
