public import CaptureCore
public import CaptureSystem

/// The JPEG inside a raw photo: the same picture, developed, in full size.
///
/// The media library keeps a `dng` with its `jpeg` as one file, and hands it out as such:
///
///     let file = try await library.contents(of: asset.id)
///     if let jpeg = try EmbeddedJPEG(file: file) { print(jpeg.bytes.count) }
///
/// Files may come from anybody: places and sizes that a file names are checked before they are used.
public struct EmbeddedJPEG: Hashable, Sendable {
    /// A whole JPEG file, with EXIF of its own.
    public let bytes: [UInt8]
    /// In pixels, as the DNG says it of both pictures, before they are turned.
    public let width: Int
    /// In pixels, as `width`.
    public let height: Int

    /// The JPEG in the bytes of a DNG; `nil` for anything else, and for a DNG without a JPEG of its size.
    ///
    /// - Throws: `CaptureError.Code.badData` for a DNG that is cut off or says something impossible.
    public init?(dng: [UInt8]) throws(CaptureError) {
        let found = try DNGPreview.find(size: Int64(dng.count)) { place, count in
            Array(dng[Int(place)..<min(Int(place) + count, dng.count)])
        }
        guard let found else { return nil }
        (width, height) = (found.width, found.height)
        bytes = Array(dng[Int(found.place)..<Int(found.place) + found.count])
    }

    /// The JPEG in a file, which is read without moving its position; otherwise as for bytes.
    ///
    /// - Parameter file: A regular file, open for reading.
    /// - Throws: `CaptureError.Code.inputOutput` if it cannot be read; `badData` as for bytes.
    public init?(file: Descriptor) throws(CaptureError) {
        let size = try FilePart.size(of: file, "a JPEG")
        let found = try DNGPreview.find(size: size) { place, count throws(CaptureError) in
            try FilePart.read(file, place, count, "DNG")
        }
        guard let found else { return nil }
        (width, height) = (found.width, found.height)
        bytes = try FilePart.read(file, found.place, found.count, "DNG")
        guard bytes.count == found.count else {
            throw CaptureError(.badData, "the DNG became shorter while it was read")
        }
    }
}
