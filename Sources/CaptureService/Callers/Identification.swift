import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc

/// Gathers what an identity is made of: the bus's and the kernel's word about a connection, and the service manager's
/// about its unit.
struct Identification: Sendable {
    let bus: BusConnection
    let root: SystemRoot

    /// Identifies a caller of the control socket, without the bus.
    ///
    /// - Throws: `.notPermitted` if the caller cannot be identified. Root needs no identification, because root may do
    ///   anything here.
    func identify(_ caller: ControlCaller) async throws(CaptureError) -> ClientIdentity {
        let root = root
        return try await WorkerThread.run("identify") { () throws(CaptureError) in
            let isRoot = caller.user == 0
            do throws(CaptureError) {
                let peer = try PeerFacts.look(at: caller.pid, user: caller.user, groups: caller.groups)
                // Only the service manager can tell a system service from a dedicated user. Both are refused here,
                // so it is not asked.
                var facts = Identification.facts(from: peer, unitUser: nil, root: root)
                if isRoot { facts.systemUnit = nil }
                return try ClientIdentity.identify(facts)
            } catch {
                guard isRoot else { throw error }
                return ClientIdentity(
                    program: "uid:0",
                    tier: .claimed,
                    user: 0,
                    name: "root",
                    detail: "root, by process \(caller.pid), which is not identified",
                    pid: caller.pid,
                    groups: caller.groups
                )
            }
        }
    }

    /// What an identity is made of, from what the bus and the kernel said.
    ///
    /// A thread of its own looks at files and the user database, because their server may be slow.
    func facts(from peer: PeerFacts) async throws(CaptureError) -> ProcessFacts {
        let unitUser = try await unitUser(peer.unit)
        let root = root
        return try await BusConnection.look("identify", at: peer.user) {
            Identification.facts(from: peer, unitUser: unitUser, root: root)
        }
    }

    private static func facts(from peer: PeerFacts, unitUser: UInt32?, root: SystemRoot) -> ProcessFacts {
        let executable = ProcessExecutable.examine(
            link: root.path(of: peer.executable.path) + (peer.executable.isDeleted ? " (deleted)" : ""),
            device: peer.executable.device,
            inode: peer.executable.inode,
            changed: peer.executable.changed,
            below: root.prefix
        )
        return ProcessFacts(
            pid: peer.pid,
            uid: peer.user,
            gids: peer.groups,
            executable: executable,
            // Without systemd as process 1 a unit in the cgroup's path is the host's, not the program's.
            systemUnit: ServiceManager.isBooted ? peer.unit : nil,
            systemUnitUser: unitUser,
            userUnit: peer.userUnit,
            script: peer.userUnit.flatMap(ScriptScope.init(unit:))?.look(for: peer.user, below: root.prefix),
            session: peer.session,
            isLoginUser: ProcessFacts.isLoginUser(
                peer.user,
                shell: Users.learn(peer.user)?.shell,
                hasSession: Seat.hasSession(peer.user)
            ),
            label: peer.securityLabel ?? "",
            flatpakInfo: flatpakInfo(peer),
            isByPid: !peer.viaProcessFD,
            startTime: peer.startTime
        )
    }

    /// Makes sure that the process which was identified has its connections, and has them alone.
    ///
    /// - Throws: `.notPermitted` when it does not, or is another process meanwhile.
    func checkHolding(of connection: String, by client: ClientIdentity) async throws(CaptureError) {
        let peer = try await bus.credentials(of: connection)
        guard peer.pid == client.pid, peer.startTime == client.parts.startTime, let file = client.running,
            peer.executable.device == file.device, peer.executable.inode == file.inode,
            file.changed == nil || file.changed == peer.executable.changed
        else { throw CaptureError(.notPermitted, "the program behind this connection changed while it was identified") }
        try await bus.checkHolding(of: peer)
    }

    private static func flatpakInfo(_ peer: PeerFacts) -> ProcessFacts.FlatpakFile {
        switch peer.flatpakInfo {
        case .absent: .absent
        case .unusable(let why): .unusable(why)
        case .file(let file):
            .file(
                text: file.text,
                owner: file.owner,
                isInMemory: file.isInMemory,
                isOnOwnRoot: peer.hasOwnRoot
            )
        }
    }

    /// The uid that the service manager runs a service as, which its processes must have to be taken for it.
    ///
    /// Only asked for services of the system: scopes and a user's own manager do not make a program.
    private func unitUser(_ unit: String?) async throws(CaptureError) -> UInt32? {
        guard let unit, unit.hasSuffix(".service"), !unit.hasPrefix("user@"), ServiceManager.isBooted else {
            return nil
        }
        let manager = "org.freedesktop.systemd1"
        let path = try await bus.call(
            manager,
            "/org/freedesktop/systemd1",
            manager + ".Manager",
            "GetUnit",
            signature: "s",
            [.string(unit)],
            timeout: 10
        ).first?.text
        guard let path else { return nil }
        let value = try await bus.call(
            manager,
            path,
            CaptureNames.properties,
            "Get",
            signature: "ss",
            [.string(manager + ".Service"), .string("UID")],
            timeout: 10
        ).first?.unwrapped.unsigned
        guard let user = value.flatMap({ UInt32(exactly: $0) }) else { return nil }
        // A unit without User= runs as root; the service manager says so by the invalid uid.
        return user == .max ? 0 : user
    }
}
