import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// The clients' ends of the sockets of one bus. Reentrant.
enum BusSockets {
    /// All sockets that are connected to whom one of them is connected to.
    ///
    /// - Parameter own: The inode of one of them.
    /// - Returns: The users that made them, by inode; `nil` where the kernel does not tell (CONFIG_UNIX_DIAG).
    /// - Throws: `.notPermitted` where they cannot be listed.
    static func clients(beside own: UInt32) throws(CaptureError) -> [UInt32: UInt32]? {
        guard let sockets = try listed() else { return nil }
        guard let ours = sockets.first(where: { $0.inode == own }),
            let bus = sockets.first(where: { $0.inode == ours.peer }), bus.length > 0
        else { return [:] }
        let ends = Set(sockets.lazy.filter { $0.hasName(of: bus) }.map(\.inode))
        let clients = sockets.lazy.filter { ends.contains($0.peer) }.map { ($0.inode, $0.user) }
        return Dictionary(clients) { first, _ in first }
    }

    /// The sockets that are connected to a server of PipeWire, by the name of its socket.
    ///
    /// - Parameter own: Some of one server's, of which only that server's are wanted.
    /// - Returns: `nil` where the kernel does not tell (CONFIG_UNIX_DIAG).
    /// - Throws: `.notPermitted` where they cannot be listed.
    static func pipewireClients(beside own: Set<UInt32>? = nil) throws(CaptureError) -> Set<UInt32>? {
        guard let sockets = try listed() else { return nil }
        let ends = sockets.compactMap { socket in socket.pipewireFolder.map { (socket, $0) } }
        let folders = own.map { own in Set(ends.lazy.filter { own.contains($0.0.peer) }.map(\.1)) }
        let inodes = Set(ends.lazy.filter { folders?.contains($0.1) ?? true }.map(\.0.inode))
        return Set(sockets.lazy.filter { inodes.contains($0.peer) }.map(\.inode))
    }

    /// PipeWire's ends of a client's sockets, by the name of its socket.
    ///
    /// - Throws: The system's error.
    static func pipewirePeers(of own: Set<UInt32>) throws(SystemError) -> Set<UInt32> {
        Set((try list() ?? []).lazy.filter { own.contains($0.peer) && $0.pipewireFolder != nil }.map(\.inode))
    }

    private static func listed() throws(CaptureError) -> [clinux_unix_socket]? {
        do throws(SystemError) {
            return try list()
        } catch {
            throw ProcessLook.refusal("captured cannot find out which processes hold its connection: \(error)")
        }
    }

    private static func list() throws(SystemError) -> [clinux_unix_socket]? {
        var room = 1024
        // A list that changes while it is read is read again, a machine's worth of times.
        for _ in 0..<16 {
            var found = [clinux_unix_socket](repeating: clinux_unix_socket(), count: room)
            let count = unsafe clinux_unix_sockets(&found, room)
            if count < 0, errno == ENOENT { return nil }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            if count < 0 { throw SystemError("list the sockets", errno: errno) }
            if count <= room { return Array(found.prefix(count)) }
            room = count + 256
        }
        throw SystemError("list the sockets", errno: EAGAIN)
    }

    /// The inodes of sockets that any thread of a process has open; none where its descriptors cannot be read.
    ///
    /// - Parameter sinceExec: Those alone that exec closes: no program that the process ran before can have left them.
    static func held(by process: Int32, sinceExec: Bool = false) -> Set<UInt32> {
        var held: Set<UInt32> = []
        for folder in DescriptorTables.folders(of: process) {
            var found = [UInt32](repeating: 0, count: 256)
            while case let count = unsafe clinux_sockets_in(folder, &found, found.count, sinceExec), count > 0 {
                held.formUnion(found.prefix(count))
                // More were opened than there was room for, and more may be meanwhile.
                guard count > found.count else { break }
                found = [UInt32](repeating: 0, count: count + 256)
            }
        }
        return held
    }

    /// Those of the given sockets that may be of a client, by a table such as `/proc/net/unix`: streams without a name
    /// that are connected.
    static func connected(_ sockets: Set<UInt32>, in table: String) -> Set<UInt32> {
        Set(
            table.split(separator: "\n").compactMap { line in
                // Number, references, protocol, flags, type, state, inode, path.
                let words = line.split(separator: " ")
                guard words.count == 7, words[4] == "0001", words[5] == "03" else { return nil }
                return UInt32(words[6]).flatMap { sockets.contains($0) ? $0 : nil }
            }
        )
    }
}

extension clinux_unix_socket {
    /// The folder of a path such as `/run/user/1000/pipewire-0`, which it is bound to; `nil` for other names.
    fileprivate var pipewireFolder: String? {
        var own = name
        let path = unsafe withUnsafeBytes(of: &own) { bytes in
            unsafe String(decoding: bytes.prefix(Int(min(length, 108))).prefix { $0 != 0 }, as: UTF8.self)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.last?.hasPrefix("pipewire-") == true ? parts.dropLast().joined(separator: "/") : nil
    }

    fileprivate func hasName(of other: Self) -> Bool {
        var (own, others) = (name, other.name)
        return unsafe length == other.length && memcmp(&own, &others, Int(length)) == 0
    }
}
