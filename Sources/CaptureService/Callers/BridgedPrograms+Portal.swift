import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem

extension BridgedPrograms {
    /// How long connections that are being made or handed over are waited for.
    private static let patience = Duration.seconds(2)

    /// Whether a process is the desktop's camera portal, as it is installed: a copy or a program of that name is not.
    static func isPortal(_ identity: ClientIdentity) -> Bool {
        runs(identity, ["xdg-desktop-portal"])
    }

    /// Whether a process runs a file of one of these names that only root can replace.
    static func runs(_ identity: ClientIdentity, _ names: [Substring]) -> Bool {
        guard let file = identity.running, file.isProtected, let name = file.path.split(separator: "/").last else {
            return false
        }
        return names.contains(name)
    }

    /// The program that has what the camera portal connected.
    ///
    /// - Parameters:
    ///   - portal: The portal.
    ///   - connections: How many connections PipeWire takes for each process's.
    ///   - bridge: The bridge.
    /// - Throws: `.notPermitted` where nobody can tell which program it is.
    func holder(
        of portal: ClientIdentity,
        _ connections: [Int32: Int],
        beside bridge: ClientIdentity
    ) async throws(CaptureError) -> (NamedProcess, ClientIdentity) {
        let end = ContinuousClock.now + Self.patience
        while true {
            do throws(CaptureError) {
                return try await look(portal, connections, bridge)
            } catch {
                // What is handed over just now is in order soon.
                guard ContinuousClock.now < end else { throw error }
                do { try await Task.sleep(for: .milliseconds(50)) } catch _ { throw error }
            }
        }
    }

    private func look(
        _ portal: ClientIdentity,
        _ connections: [Int32: Int],
        _ bridge: ClientIdentity
    ) async throws(CaptureError) -> (NamedProcess, ClientIdentity) {
        let holders = try await BusConnection.look("who-holds", at: bridge.user) { () throws(CaptureError) in
            try PortalHolding(of: connections, beside: bridge.pid).holders(of: portal.pid, connections)
        }
        var found: [(NamedProcess, ClientIdentity)] = []
        for holder in holders {
            let identity = try await identify(holder.process, holder.startTime, bridge.user)
            // It may have run another program since its sockets were looked at.
            if let file = identity.running, (file.device, file.inode) != (holder.file.device, holder.file.inode) {
                throw ProcessLook.refusal("process \(holder.process) ran another program meanwhile")
            }
            found.append((NamedProcess(number: holder.process, startTime: holder.startTime), identity))
        }
        guard let first = found.first, found.allSatisfy({ $0.1.program == first.1.program }) else {
            throw ProcessLook.refusal("programs that run the same file have connections that the camera portal made")
        }
        return first
    }
}
