import CaptureCore
import CaptureSystem

extension PacketSocket {
    /// The daemon's next message; `nil` if it left.
    func message() throws(CaptureError) -> (text: String, files: [Descriptor])? {
        try CaptureError.wrap(.badData, try receive())
    }

    /// The files of a job: the one that came with it, and so many that come in messages of their own.
    func files(_ first: Descriptor, and count: Int) throws(CaptureError) -> [Descriptor] {
        var files = [first]
        for _ in 0..<count {
            guard let message = try message() else {
                throw CaptureError(.unreachable, "the daemon left before all files of the job came")
            }
            guard try RecorderCommand(text: message.text) == .file, message.files.count == 1 else {
                throw CaptureError(.badData, "something else came in the place of a job's file")
            }
            files += message.files
        }
        return files
    }
}
