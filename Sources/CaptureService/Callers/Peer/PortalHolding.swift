import CLinux
import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc

/// Which program has the connections to PipeWire that the desktop's camera portal made.
///
/// The portal connects, hands its socket to the program that it serves, and closes its own, so that PipeWire takes the portal
/// for its client. Which of PipeWire's clients a socket is cannot be told. So all sockets are looked at: each program has as
/// many as its processes made, but for the portal, which has fewer, and for those that it serves, which have as many more.
/// If it serves several, the client says which one it is; who gets the memory then shows whether that is so.
struct PortalHolding: Sendable {
    /// A process that has sockets of PipeWire's clients.
    struct Holder: Hashable, Sendable {
        var process: Int32
        /// When it started, as `/proc/PID/stat` has it.
        var startTime: UInt64
        var file: FileIdentity
        /// Those that exec closes: no program that the process ran before can have left them.
        var own: Set<UInt32>
        /// Those, and all others that it has.
        var all: Set<UInt32>
    }

    /// All sockets of the server's clients.
    var sockets: Set<UInt32>
    /// Who has them.
    var holders: [Holder]
    /// The files of processes that made some; none for those that have ended.
    var makers: [Int32: FileIdentity]

    /// Looks at every process.
    ///
    /// - Parameters:
    ///   - connections: How many connections PipeWire takes for whose.
    ///   - bridge: A process that has connections to the same server.
    /// - Throws: `.notPermitted` where this cannot be told.
    init(of connections: [Int32: Int], beside bridge: Int32) throws(CaptureError) {
        guard let listed = try BusSockets.pipewireClients(beside: BusSockets.held(by: bridge)) else {
            throw ProcessLook.refusal(
                "the camera portal made its connection, and this kernel does not list sockets (CONFIG_UNIX_DIAG)"
            )
        }
        sockets = listed
        holders = []
        makers = [:]
        for process in connections.keys { makers[process] = PortalHolding.file(of: process) }
        for process in Files.names(in: "/proc").compactMap({ Int32($0) }) {
            let all = BusSockets.held(by: process).intersection(listed)
            guard !all.isEmpty else { continue }
            guard let file = PortalHolding.file(of: process),
                let started = try? ProcessLook(pid: process, process: ProcessLook.pin(process)).status()
            else { throw ProcessLook.refusal("process \(process) ended while captured looked at it") }
            let own = BusSockets.held(by: process, sinceExec: true).intersection(listed)
            holders.append(
                Holder(process: process, startTime: started.startTime, file: file, own: own, all: all)
            )
        }
    }

    init(sockets: Set<UInt32>, holders: [Holder], makers: [Int32: FileIdentity]) {
        (self.sockets, self.holders, self.makers) = (sockets, holders, makers)
    }

    /// The file that a process runs; `nil` if it has ended.
    static func file(of process: Int32) -> FileIdentity? {
        var file = clinux_file()
        guard unsafe clinux_known_file(AT_FDCWD, "/proc/\(process)/exe", &file) == 0 else { return nil }
        return FileIdentity(device: file.device, inode: file.inode)
    }

    /// The processes of each program that has what a portal handed over, the oldest first.
    ///
    /// - Parameters:
    ///   - portal: A process of the portal.
    ///   - connections: As many connections as PipeWire takes for each process's, at the same time.
    /// - Throws: `.notPermitted` where it cannot be told.
    func holders(of portal: Int32, _ connections: [Int32: Int]) throws(CaptureError) -> [[Holder]] {
        var (own, all): ([FileIdentity: Set<UInt32>], [FileIdentity: Set<UInt32>]) = ([:], [:])
        for holder in holders {
            own[holder.file, default: []].formUnion(holder.own)
            all[holder.file, default: []].formUnion(holder.all)
        }
        guard all.values.reduce(0, { $0 + $1.count }) == Set(all.values.joined()).count else {
            throw PortalHolding.refusal("two programs have the same connection")
        }
        guard Set(own.values.joined()) == sockets else {
            throw PortalHolding.refusal("a program hides a connection, or passes it on")
        }
        var made: [FileIdentity: Int] = [:]
        for (process, count) in connections {
            if let file = makers[process] { made[file, default: 0] += count }
        }
        guard let portalFile = makers[portal] else { throw PortalHolding.refusal("it has ended") }
        let handed = made[portalFile, default: 0] - own[portalFile, default: []].count
        let more = own.filter { $0.key != portalFile }.mapValues(\.count)
            .map { (file: $0.key, count: $0.value - made[$0.key, default: 0]) }.filter { $0.count > 0 }
        guard handed > 0, more.reduce(0, { $0 + $1.count }) == handed else {
            throw PortalHolding.refusal("the connections that programs have are not those that they made")
        }
        return more.map { other in
            holders.filter { $0.file == other.file && !$0.own.isEmpty }
                .sorted { ($0.startTime, $0.process) < ($1.startTime, $1.process) }
        }
    }

    /// The processes of the program that a client says it is, the one that it names first.
    ///
    /// - Parameters:
    ///   - process: The number that the client gives, which may be of its own namespace.
    ///   - programs: Those that it may be.
    /// - Throws: `.notPermitted` if there are several and it names none of them.
    static func said(_ process: Int32, of programs: [[Holder]]) throws(CaptureError) -> [Holder] {
        let named = programs.map { $0.filter { numbers(of: $0.process).contains(process) } }
        let places = programs.indices.filter { programs.count == 1 || !named[$0].isEmpty }
        guard let place = places.first, places.count == 1 else {
            throw refusal("several programs have connections that they did not make; end all but one")
        }
        return named[place] + programs[place].filter { !named[place].contains($0) }
    }

    /// The numbers of a process in its namespaces.
    private static func numbers(of process: Int32) -> [Int32] {
        let lines = Files.text(of: "/proc/\(process)/status", limit: 1 << 16)?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("NSpid:") }
        return line?.dropFirst(6).split { $0.isWhitespace }.compactMap { Int32($0) } ?? []
    }

    private static func refusal(_ why: String) -> CaptureError {
        ProcessLook.refusal("the camera portal made its connection, and captured cannot tell for which program: \(why)")
    }
}
