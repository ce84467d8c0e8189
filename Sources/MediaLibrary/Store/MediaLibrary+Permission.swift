public import CaptureCore

extension MediaLibrary {
    /// Does something that changes the library as long as that is permitted. Who may do what can change while a call
    /// waits for its turn or for the disk; so that is asked in every transaction that the body begins, when nobody else
    /// can write any more. One that is not permitted is not made, and what the body has done of an import goes.
    ///
    /// It holds for what the body itself calls, on its thread or in its task, and not for others who write at the same
    /// time. Within another one, both are asked. What ends something and gives nobody anything goes through in any case:
    /// keeping a recording for its user, forgetting one, tidying up after what has been done or has failed.
    ///
    /// - Parameters:
    ///   - check: Throws when it is not permitted. It is called while others wait to write, so that it has to be short,
    ///     and must not use the library.
    ///   - body: What changes the library.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; what `check` throws, which is then also what the body's call throws.
    public func whilePermitted<T>(
        _ check: @escaping @Sendable () throws(CaptureError) -> Void,
        _ body: () throws(CaptureError) -> T
    ) throws(CaptureError) -> T {
        let outer = WritePermission.check
        let both: @Sendable () throws(CaptureError) -> Void = { () throws(CaptureError) in
            try outer?()
            try check()
        }
        return try WritePermission.$check.withValue(both) {
            Result { () throws(CaptureError) in try body() }
        }.get()
    }
}

/// Whether this task or thread may write.
enum WritePermission {
    /// Throws when it may not; `nil` where nobody has to be asked.
    @TaskLocal static var check: (@Sendable () throws(CaptureError) -> Void)?
}
