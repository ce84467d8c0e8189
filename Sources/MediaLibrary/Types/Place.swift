public import CaptureCore

/// Where an asset was made.
public struct Place: Hashable, Sendable {
    /// Degrees north of the equator: -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich: -180 to 180.
    public var longitude: Double

    /// A place on the earth.
    ///
    /// - Throws: `invalidArgument` for a latitude beyond 90 or a longitude beyond 180 degrees, or none at all.
    public init(latitude: Double, longitude: Double) throws(CaptureError) {
        guard (-90...90).contains(latitude) else {
            throw CaptureError(.invalidArgument, "the latitude \(latitude) is not between -90 and 90 degrees")
        }
        guard (-180...180).contains(longitude) else {
            throw CaptureError(.invalidArgument, "the longitude \(longitude) is not between -180 and 180 degrees")
        }
        self.latitude = latitude
        self.longitude = longitude
    }
}
