public import CaptureCore
import Glibc

/// The file that a recording for the library is written to.
///
/// Thread-safe. Closing it leaves the recording under way: it has to be finished, kept or cancelled by its id.
public final class RecordingTransit: OpenFile {
    /// What the recording is called by.
    public let id: String
    private let file: OwnedDescriptor

    init(id: String, file: OwnedDescriptor) {
        self.id = id
        self.file = file
    }

    /// For reading and writing; closed with the last reference to this object.
    public var descriptor: Int32 { file.number }

    /// Which file it is.
    public var identity: FileIdentity? {
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// A recording that did not get into the library, kept for the user to save or discard.
public struct WaitingRecording: Hashable, Sendable {
    /// What it is called by: 32 hexadecimal digits.
    public var id: String
    /// The id of the program that recorded it.
    public var program: String
    /// When it was begun, in milliseconds since 1970.
    public var started: Int64
    /// Bytes.
    public var size: Int64
    /// What the program said of it.
    public var draft: AssetDraft
    /// Why it did not get into the library, in a sentence.
    public var why: String
}
