public import CaptureCore

/// A source's own memory, mapped by this process and read by `CaptureSession.reader(of:)`: no recorder, no copy.
///
/// Most programs take a `VideoDataOutput` or an `AudioDataOutput` instead, which have a thread that reads.
public struct FrameBufferOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// No file.
    public var file: Descriptor? { nil }
    /// The kind of input that it is fed by.
    public let mediaTypes: [MediaType]
    /// The output's description for the daemon.
    public var description: OutputDescription { OutputDescription(name: name, kind: .buffer, format: "") }

    /// A buffer output.
    ///
    /// - Parameters:
    ///   - mediaType: Picture, sound, or the metadata of a camera.
    ///   - name: The name in the session.
    public init(_ mediaType: MediaType = .video, name: String = "buffer") {
        self.name = name
        mediaTypes = [mediaType]
    }
}
