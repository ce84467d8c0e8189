public import CaptureCore

/// The daemon's short word for it.
public typealias Service = AuthorizationService

/// Services in a sentence, as in `the camera and the microphone`.
package func phrase(_ services: Set<Service>) -> String {
    services.sorted().map(\.title).joined(separator: " and ")
}
