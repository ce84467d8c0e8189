import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem

/// Whether a process has the connections to PipeWire that are taken for its own.
///
/// PipeWire tells which process made a connection, not who has its socket since. A process can leave it to another one and
/// then run an allowed program; and the camera portal hands its own to the programs that it serves. Whoever does the former
/// can leave another connection to the allowed program: PipeWire's clients have theirs closed by exec, so none that was left
/// counts.
enum PipeWireHolding {
    /// How long connections that are being made are waited for.
    private static let patience = Duration.seconds(2)

    /// Makes sure that a process still has every connection that it made, and that nobody has one who runs another program.
    /// Where the kernel does not list sockets (CONFIG_UNIX_DIAG), this cannot be told, and nothing is refused.
    ///
    /// - Parameter made: How many connections PipeWire takes for the process's.
    /// - Throws: `.notPermitted` with what is not so.
    static func check(_ client: ClientIdentity, made: Int) async throws(CaptureError) {
        let end = ContinuousClock.now + patience
        while true {
            let held = try await BusConnection.look("who-holds", at: client.user) { () throws(CaptureError) in
                try look(client)
            }
            guard let held, held < made else { return }
            // What is connecting just now is in order soon.
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(50))) != nil else {
                throw ProcessLook.refusal(
                    "process \(client.pid) opened more connections to PipeWire (\(made)) than it holds (\(held)): "
                        + "another process has its connection"
                )
            }
        }
    }

    /// How many connections the process has that its program made; `nil` where that cannot be told.
    private static func look(_ client: ClientIdentity) throws(CaptureError) -> Int? {
        guard let all = try BusSockets.pipewireClients(), let file = client.running else { return nil }
        let own = BusSockets.held(by: client.pid).intersection(all)
        if let other = Holding.other(than: client.pid, with: own, device: file.device, file.inode) {
            throw ProcessLook.refusal(other)
        }
        return own.isEmpty ? 0 : BusSockets.held(by: client.pid, sinceExec: true).intersection(all).count
    }
}
