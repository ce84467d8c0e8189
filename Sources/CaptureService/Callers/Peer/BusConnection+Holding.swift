import CaptureBus
import CaptureCore
import CaptureSystem

/// Whether a process has the connections that the bus takes for its own.
///
/// The bus tells which process made a connection. Who has its socket since, the bus does not know: a process can leave it to
/// another and then run an allowed program, or end, and have its number go to one.
extension BusConnection {
    /// How long connections of the same user that have not greeted the bus yet are waited for.
    private static let patience = Duration.seconds(3)

    /// Makes sure that a process still has every connection that it made, and that nobody has one of them who runs another
    /// program. Children that have not run a program of their own yet, and so have what it has, are no others.
    ///
    /// Where the kernel does not list sockets (CONFIG_UNIX_DIAG) the process's own are only counted.
    ///
    /// - Parameter peer: As `credentials(of:)` found it, who is pinned by that.
    /// - Throws: `.notPermitted` with what is not so; `.unreachable` when the bus is gone.
    func checkHolding(of peer: PeerFacts) async throws(CaptureError) {
        let own = try await socketInode()
        let end = ContinuousClock.now + Self.patience
        while true {
            // Names before sockets: a socket is there before its name is, and is gone first.
            let makers = try await connectionMakers()
            let holding = try await BusConnection.look("who-holds", at: peer.user) { () throws(CaptureError) in
                try Holding(of: peer, own: own)
            }
            if let other = holding.other { throw ProcessLook.refusal(other) }
            guard let doubt = holding.doubt(makers, process: peer.pid, user: peer.user) else { return }
            // What is connecting or closing just now is in order soon.
            guard ContinuousClock.now < end else { throw ProcessLook.refusal(doubt) }
            do { try await Task.sleep(for: .milliseconds(50)) } catch { throw ProcessLook.refusal(doubt) }
        }
    }
}

/// What looking at the connections of a process came to. Blocks for the descriptors of every process.
struct Holding {
    /// The connections that it has since it runs its program; where the kernel does not list sockets, those that it may have.
    /// A program that it ran before can have left it another one in the place of its own. Exec closes those of D-Bus's libraries.
    var own: Set<UInt32>
    /// The users of all connections of the bus; `nil` where the kernel does not list sockets.
    var all: [UInt32: UInt32]?
    /// Who has one of its own, too, in words.
    var other: String?

    init(own: Set<UInt32>, all: [UInt32: UInt32]?) {
        (self.own, self.all) = (own, all)
    }

    init(of peer: PeerFacts, own: UInt32) throws(CaptureError) {
        let held = BusSockets.held(by: peer.pid, sinceExec: true)
        guard let all = try BusSockets.clients(beside: own) else {
            let table = Files.text(of: "/proc/\(peer.pid)/net/unix", limit: 1 << 22) ?? ""
            self.init(own: BusSockets.connected(held, in: table), all: nil)
            return
        }
        self.init(own: held.intersection(all.keys), all: all)
        let any = BusSockets.held(by: peer.pid).intersection(all.keys)
        other = Holding.other(than: peer.pid, with: any, device: peer.executable.device, peer.executable.inode)
    }

    /// Who has one of a process's sockets, too, and runs another file; `nil` for nobody. Looks at every process.
    static func other(than own: Int32, with sockets: Set<UInt32>, device: UInt64, _ inode: UInt64) -> String? {
        for process in Files.names(in: "/proc").compactMap({ Int32($0) }) where process != own {
            guard !BusSockets.held(by: process).isDisjoint(with: sockets) else { continue }
            guard PortalHolding.file(of: process) == FileIdentity(device: device, inode: inode) else {
                let program = Files.link(at: "/proc/\(process)/exe") ?? "a program that has ended"
                return "process \(process) (\(program)) has its connection, too"
            }
        }
        return nil
    }

    /// What the bus says that does not go with this; `nil` for nothing.
    ///
    /// A process may have sockets besides that have no name yet, or never get one, so that it has enough of them is not all:
    /// of what its user has beyond them, each has to be somebody else's.
    func doubt(_ makers: [ConnectionMaker], process: Int32, user: UInt32) -> String? {
        let made = makers.count { $0.process == process }
        guard own.count >= made else {
            return "process \(process) opened more bus connections (\(made)) than it holds (\(own.count)): another "
                + "process has its connection, or its number was the number of another process, which has ended"
        }
        guard let all else { return nil }
        let others = makers.count { $0.user == user && $0.process != process }
        let beyond = all.count { $0.value == user && !own.contains($0.key) }
        guard beyond <= others else {
            return "other processes of its user hold more bus connections (\(beyond)) than they opened (\(others)): "
                + "another process may have its connection"
        }
        return nil
    }
}
