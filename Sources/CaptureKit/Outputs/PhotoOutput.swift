import Synchronization

/// Photos of a camera: either whenever `capturePhoto` asks for one, also while a movie records, or a single one into a file
/// of its own, after which the output is finished.
///
/// Like AVFoundation's class of the same kind, it captures again and again while its session runs. Any task may call
/// everything.
public struct PhotoOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The open file of a single photo; `nil` for one that is saved into the media library, and for photos that are asked
    /// for later.
    public let file: Descriptor?
    /// The output's description for the recorder.
    public let description: OutputDescription
    /// One camera, of whose depth a `png` or `tiff` has the distances.
    public var mediaTypes: [MediaType] { [.video, .depth] }

    /// The session that the output was added to.
    let place = SessionPlace()

    /// Photos that are asked for with `capturePhoto` while the session runs. The session does not end by itself.
    ///
    /// - Parameter name: The name in the session.
    public init(name: String = "photo") {
        self.name = name
        file = nil
        description = OutputDescription(name: name, kind: .photos, format: "")
    }

    /// A single photo.
    ///
    /// - Parameters:
    ///   - file: Open for writing.
    ///   - name: The name in the session.
    ///   - format: One of `OutputDescription.formats(of: .photo)`.
    ///   - quality: JPEG's, 1 to 100.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "photo",
        format: String = "jpeg",
        quality: Int = 90
    ) throws(CaptureError) {
        try self.init(file, OutputDescription(name: name, kind: .photo, format: format, quality: quality))
    }

    /// A single photo that is saved into the media library, which needs the consent to add to it. The start asks if that was
    /// never decided. A photo that cannot be saved in the end is kept for the person, to save or discard.
    ///
    /// - Parameters:
    ///   - destination: Its name and album there.
    ///   - name: The name in the session.
    ///   - format: One of `OutputDescription.formats(of: .photo)`.
    ///   - quality: JPEG's, 1 to 100.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        toLibrary destination: LibraryDestination,
        name: String = "photo",
        format: String = "jpeg",
        quality: Int = 90
    ) throws(CaptureError) {
        try self.init(
            nil,
            OutputDescription(name: name, kind: .photo, format: format, quality: quality, library: destination)
        )
    }

    private init(_ file: Descriptor?, _ description: OutputDescription) throws(CaptureError) {
        try Self.check(description.format, among: OutputDescription.formats(of: .photo), of: "photo format")
        try Self.check(quality: description.quality)
        name = description.name
        self.file = file
        self.description = description
    }
}

/// Remembers the session of an output, without keeping it. Thread-safe.
final class SessionPlace: Sendable {
    private struct Place {
        weak var session: CaptureSession?
    }
    private let place = Mutex(Place())

    /// The session; `nil` before the output is added to one, and after that one is gone.
    var session: CaptureSession? {
        get { place.withLock { $0.session } }
        set { place.withLock { $0.session = newValue } }
    }
}
