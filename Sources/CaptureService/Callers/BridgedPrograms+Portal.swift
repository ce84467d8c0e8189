import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem

extension BridgedPrograms {
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
    ///   - said: Which process its client says that it is.
    ///   - connections: How many connections PipeWire takes for each process's.
    ///   - bridge: The bridge.
    /// - Throws: `.notPermitted` where nobody can tell which program it is.
    func holder(
        of portal: ClientIdentity,
        said: Int32,
        _ connections: [Int32: Int],
        beside bridge: ClientIdentity
    ) async throws(CaptureError) -> (NamedProcess, ClientIdentity) {
        // What is handed over just now is in order soon.
        try await Self.patiently { () throws(CaptureError) in try await look(portal, said, connections, bridge) }
    }

    /// Makes sure that the program that came through a connection of the bridge's has its memory alone.
    ///
    /// - Throws: `.notPermitted` if it has not, or the caller is not the bridge.
    func checkMemory(_ inodes: Set<UInt64>, through caller: SessionClient) async throws(CaptureError) {
        try await check(caller.identity)
        let programs = programs(through: caller.connection)
        guard let program = programs.first, programs.count == 1 else {
            throw CaptureError(.wrongState, "a connection checks the memory of the one program that came through it")
        }
        // It may not have taken it yet.
        try await Self.patiently { () throws(CaptureError) in
            try await look(inodes, of: program, by: caller.identity.pid)
        }
    }

    private func look(_ inodes: Set<UInt64>, of entry: Entry, by bridge: Int32) async throws(CaptureError) {
        let program = entry.identity
        let others = try await BusConnection.look(
            "who-has-memory",
            at: program.user,
            among: BusConnection.searches
        ) { () throws(CaptureError) in
            try MemoryHolding.others(with: inodes, beside: program.pid, by: bridge)
        }
        for other in others.alike {
            guard try await identify(other.number, other.startTime, program.user).program == program.program else {
                throw MemoryHolding.refusal("process \(other.number), another program, has the pictures' memory")
            }
        }
        for server in others.servers {
            guard Self.runs(try await identify(server.number, server.startTime, program.user), ["pipewire"]) else {
                throw MemoryHolding.refusal("process \(server.number), which is not PipeWire, has the pictures' memory")
            }
        }
        var again = try await identify(program.pid, entry.startTime, program.user)
        again.name = program.name
        guard again == program else {
            throw MemoryHolding.refusal("process \(program.pid) ran another program meanwhile")
        }
    }

    /// Looks at connections that are being made or handed over, again and again for two seconds.
    nonisolated(nonsending) private static func patiently<Value: Sendable>(
        _ look: () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let end = ContinuousClock.now + .seconds(2)
        while true {
            do throws(CaptureError) {
                return try await look()
            } catch {
                guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(50))) != nil else {
                    throw error
                }
            }
        }
    }

    private func look(
        _ portal: ClientIdentity,
        _ said: Int32,
        _ connections: [Int32: Int],
        _ bridge: ClientIdentity
    ) async throws(CaptureError) -> (NamedProcess, ClientIdentity) {
        let holders = try await BusConnection.look("who-holds", at: bridge.user) { () throws(CaptureError) in
            let holding = try PortalHolding(of: connections, beside: bridge.pid)
            return try PortalHolding.said(said, of: try holding.holders(of: portal.pid, connections))
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
