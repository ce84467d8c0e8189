import Authorization
import CaptureCore

extension Grant {
    /// Lets pass only a live grant for a service.
    ///
    /// - Throws: `.notPermitted` for a grant of another service, `.revoked` for one that was withdrawn.
    func require(_ service: Service) throws(CaptureError) {
        guard self.service == service else {
            throw CaptureError(
                .notPermitted,
                "a grant for \(self.service.rawValue) does not open a \(service.rawValue)"
            )
        }
        guard isLive else {
            throw CaptureError(.revoked, "the consent for the \(service.rawValue) was withdrawn")
        }
    }
}
