import CaptureCore

/// Whether this task or thread may write.
enum WritePermission {
    /// Throws when it may not; `nil` where nobody has to be asked.
    @TaskLocal static var check: (@Sendable () throws(CaptureError) -> Void)?
}
