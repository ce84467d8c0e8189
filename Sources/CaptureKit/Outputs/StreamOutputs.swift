/// Frames into a pipe, socket or file, as they come.
public struct FrameStreamOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The writing end.
    public let file: Descriptor?
    /// The output's description for the recorder.
    public let description: OutputDescription
    /// One camera.
    public var mediaTypes: [MediaType] { [.video] }

    /// A stream of frames.
    ///
    /// - Parameters:
    ///   - file: Open for writing; the stream ends when its reader closes it.
    ///   - name: The name in the session.
    ///   - format: `y4m`, `raw` (the camera's own bytes) or `mjpeg`.
    ///   - count: Frames after which the stream ends; `nil` for no end.
    ///   - maxFileSize: Bytes, at least 65536, that are written at most: the stream ends before the frame that would be more.
    ///     `nil` for no end.
    ///   - minFreeSpace: Bytes that stay free on the disk, if `file` is a file. `nil` for no end.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "frames",
        format: String = "y4m",
        count: Int? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil
    ) throws(CaptureError) {
        try Self.check(format, among: OutputDescription.formats(of: .frames), of: "frame format")
        if let count, count < 1 { throw CaptureError(.usage, "a count of \(count) frames is out of range: 1 or more") }
        self.name = name
        self.file = file
        description = OutputDescription(
            name: name,
            kind: .frames,
            format: format,
            frameCount: count ?? 0,
            maxFileSize: try Self.maxFileSize(maxFileSize),
            minFreeSpace: try Self.minFreeSpace(minFreeSpace)
        )
    }
}

/// Samples into a pipe, socket or file, as they come.
public struct SampleStreamOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The writing end.
    public let file: Descriptor?
    /// The output's description for the recorder.
    public let description: OutputDescription
    /// One microphone.
    public var mediaTypes: [MediaType] { [.audio] }

    /// A stream of samples.
    ///
    /// - Parameters:
    ///   - file: Open for writing; the stream ends when its reader closes it.
    ///   - name: The name in the session.
    ///   - format: `wav` or `raw`.
    ///   - duration: Seconds after which the stream ends; `nil` for no end.
    ///   - maxFileSize: Bytes, at least 65536, that are written at most: the stream ends with the last
    ///     sample that fits. `nil` for no end.
    ///   - minFreeSpace: Bytes that stay free on the disk, if `file` is a file. `nil` for no end.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "samples",
        format: String = "wav",
        duration: Double? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil
    ) throws(CaptureError) {
        try Self.check(format, among: OutputDescription.formats(of: .samples), of: "sample format")
        self.name = name
        self.file = file
        description = OutputDescription(
            name: name,
            kind: .samples,
            format: format,
            duration: try Self.nanoseconds(duration),
            maxFileSize: try Self.maxFileSize(maxFileSize),
            minFreeSpace: try Self.minFreeSpace(minFreeSpace)
        )
    }
}
