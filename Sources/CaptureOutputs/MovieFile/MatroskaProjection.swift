/// How the pictures of a Matroska file lie: libavformat 59 writes a pose only for pictures around the viewer. Here the
/// element says that they are flat, as newer versions have it. Element numbers: RFC 9559, sections 5.1.4.1.28.41 to 45.
enum MatroskaProjection {
    /// `ProjectionType` with a number of one byte, which is 1, and the head of `ProjectionPrivate` with 20 bytes.
    private static let around: [UInt8] = [0x76, 0x71, 0x81, 1, 0x76, 0x72, 0x94]
    /// `ProjectionType` of 0, and the head of a `Void` in the place of the other: flat pictures have nothing there.
    static let flat: [UInt8] = [0x76, 0x71, 0x81, 0, 0xEC, 0x95, 0]

    /// The bytes of a header with flat pictures, and where `flat` is in them; `nil` if they have no projection.
    static func flattened(_ header: UnsafeRawBufferPointer) -> (bytes: [UInt8], place: Int)? {
        var bytes = unsafe Array(header)
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: around) }) else { return nil }
        bytes.replaceSubrange(place..<place + flat.count, with: flat)
        return (bytes, place)
    }
}
