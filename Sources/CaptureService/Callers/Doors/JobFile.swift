import CaptureCore
import CaptureSystem

/// A file that a recorder process can get with its job, wherever its descriptor is held.
protocol JobFile: Sendable {
    /// Sends the file over a socket, with a text and followed by other descriptors.
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError)
}

extension Descriptor: JobFile {
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError) {
        try CaptureError.wrap(.recorderLost, try socket.send(text, with: [self] + others))
    }
}
