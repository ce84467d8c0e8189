import CSystemd
public import CaptureCore
import CaptureSystem
import Synchronization

/// Who made a connection, as the bus has it.
public struct ConnectionMaker: Hashable, Sendable {
    /// The process that connected. Its number may be another process's by now.
    public var process: Int32
    /// The user of that process.
    public var user: UInt32

    /// A maker of the given parts.
    public init(process: Int32, user: UInt32) {
        self.process = process
        self.user = user
    }
}

/// The connections of a bus, and who made them.
extension BusConnection {
    /// Who made each connection that the bus has now. A connection keeps its maker, so each is asked for once.
    ///
    /// - Throws: `.unreachable` when the bus is gone.
    public func connectionMakers() async throws(CaptureError) -> [ConnectionMaker] {
        let answer = try await askBus("ListNames")
        let names = Set((answer.first?.elements ?? []).compactMap(\.text).filter { $0.hasPrefix(":") })
        // A name is never given to another connection.
        var known = makers.withLock { $0.filter { names.contains($0.key) } }
        for name in names where known[name] == nil {
            let values: [String: BusValue]
            do throws(CaptureError) {
                values = try await connectionCredentials(of: name)
            } catch  where error.code == .unreachable {
                // It has left; that the bus itself is gone, the next call tells.
                continue
            }
            guard let process = values["ProcessID"]?.integer(as: Int32.self),
                let user = values["UnixUserID"]?.integer(as: UInt32.self)
            else { continue }
            known[name] = ConnectionMaker(process: process, user: user)
        }
        makers.withLock { [known] in $0 = known }
        return Array(known.values)
    }

    /// What the bus says of who made a connection: the answer to `GetConnectionCredentials`.
    ///
    /// - Throws: `.unreachable` when the connection is gone, or the bus is.
    public func connectionCredentials(of name: String) async throws(CaptureError) -> [String: BusValue] {
        try await askBus("GetConnectionCredentials", signature: "s", [.string(name)]).first?.properties ?? [:]
    }

    /// The inode of this connection's own socket.
    ///
    /// - Throws: `.unreachable` if the connection is lost; `.internalFault` if it is not a socket.
    public func socketInode() async throws(CaptureError) -> UInt32 {
        let descriptor = try await loop.perform { core throws(CaptureError) in
            unsafe sd_bus_get_fd(try core.connected())
        }
        guard let inode = Files.link(at: "/proc/self/fd/\(descriptor)").flatMap(Files.socketInode) else {
            throw CaptureError(.internalFault, "our own connection to the bus is not a socket")
        }
        return inode
    }
}
