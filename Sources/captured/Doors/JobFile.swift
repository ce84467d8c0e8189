import CaptureCore
import CaptureSystem

/// A file that a recorder process can be given with its job, whoever holds it.
protocol JobFile: Sendable {
    /// Sends it over a socket, with a text and before other descriptors.
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError)
}

extension Descriptor: JobFile {
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError) {
        do throws(SystemError) {
            try socket.send(text, with: [self] + others)
        } catch {
            throw CaptureError(.recorderLost, error)
        }
    }
}
