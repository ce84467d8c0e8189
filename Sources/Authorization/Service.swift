public import CaptureCore

/// The daemon's short word for it.
public typealias Service = AuthorizationService
