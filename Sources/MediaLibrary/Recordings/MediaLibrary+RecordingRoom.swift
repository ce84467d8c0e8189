public import CaptureCore

extension MediaLibrary {
    /// Bytes that a recording of a program may still come to, by what there is, what waits to be saved, and what is free on
    /// the disk now.
    ///
    /// - Throws: `inputOutput`.
    public func roomForRecording(of program: String) throws(CaptureError) -> Int64 {
        let present = try kept(andOpen: true)
        func left(_ limit: Int64, _ used: Int64, _ waiting: [WaitingRecording]) -> Int64 {
            max(0, waiting.reduce(limit - used) { $0 - $1.size })
        }
        let disk = try folder.room(beside: limits.reserve)
        let own = present.filter { $0.program == program }
        return min(
            limits.contentBytes,
            max(0, disk.free - disk.reserve),
            left(limits.programBytes, try usage(of: program).bytes, own),
            left(limits.userBytes, try usage(of: nil).bytes, present)
        )
    }
}
