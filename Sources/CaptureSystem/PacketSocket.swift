import CLinux
import Glibc

/// One end of a SOCK_SEQPACKET connection: messages of text with descriptors beside them.
///
/// Thread-safe: the kernel keeps each message whole.
public final class PacketSocket: Sendable {
    /// The most bytes of one message.
    public static let largestMessage = 65536

    /// The connection.
    public let file: Descriptor

    /// Takes over a connected socket.
    public init(_ file: Descriptor) {
        self.file = file
    }

    /// Connects to a listening path.
    public static func connect(to path: String) throws(SystemError) -> PacketSocket {
        PacketSocket(
            Descriptor(owning: try SystemError.check("connect to \(path)") { unsafe clinux_seqpacket_connect(path) })
        )
    }

    /// Two ends that are connected to each other.
    public static func pair() throws(SystemError) -> (PacketSocket, PacketSocket) {
        var ends: [Int32] = [-1, -1]
        try SystemError.check("socketpair") { unsafe clinux_seqpacket_pair(&ends) }
        return (PacketSocket(Descriptor(owning: ends[0])), PacketSocket(Descriptor(owning: ends[1])))
    }

    /// Sends one message. Waits until there is room; EPIPE if the other end is gone.
    public func send(_ text: String, with files: [Descriptor] = []) throws(SystemError) {
        try send(text, with: files, flags: 0)
    }

    /// Sends one message without waiting; EAGAIN if the other end has not read enough.
    public func offer(_ text: String, with files: [Descriptor] = []) throws(SystemError) {
        try send(text, with: files, flags: Int32(MSG_DONTWAIT))
    }

    private func send(_ text: String, with files: [Descriptor], flags: Int32) throws(SystemError) {
        let (bytes, numbers) = (Array(text.utf8), files.map(\.descriptor))
        try withExtendedLifetime(files) { () throws(SystemError) -> Void in
            try SystemError.check("send to a socket") {
                unsafe clinux_send_with_fds(file.descriptor, bytes, bytes.count, numbers, Int32(numbers.count), flags)
            }
        }
    }

    /// Whether messages of these sizes, in bytes, fit beside those that the other end has not read. A quarter of the socket's
    /// room stays free, for other messages.
    public func hasRoom(for messages: [Int]) -> Bool {
        var (unread, most) = (Int32(0), Int32(0))
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe clinux_ioctl(file.descriptor, UInt(TIOCOUTQ), &unread) == 0,
            unsafe getsockopt(file.descriptor, SOL_SOCKET, SO_SNDBUF, &most, &length) == 0
        else { return false }
        // The kernel counts the memory that it takes, which is up to twice a message and some more.
        let wanted = messages.reduce(0) { $0 + 2 * $1 + 1024 }
        return Int(unread) + wanted <= Int(most) * 3 / 4
    }

    /// Receives one message, waiting for it unless the descriptor is non-blocking.
    ///
    /// - Returns: `nil` when the other end is gone.
    /// - Throws: EMSGSIZE for a message over `largestMessage` bytes or with more than 16 descriptors.
    public func receive() throws(SystemError) -> (text: String, files: [Descriptor])? {
        var bytes = [UInt8](repeating: 0, count: PacketSocket.largestMessage)
        var numbers = [Int32](repeating: -1, count: 16)
        var count: Int32 = 0
        let length = try received(isMessage: { count > 0 }) { flags in
            unsafe clinux_recv_with_fds(file.descriptor, &bytes, bytes.count, &numbers, &count, flags)
        }
        let files = numbers.prefix(Int(count)).map { Descriptor(owning: $0) }
        if length == 0, files.isEmpty { return nil }
        return (String(decoding: bytes.prefix(length), as: UTF8.self), files)
    }

    /// Receives the text of one message without taking the descriptors beside it, which the kernel closes. That waits for
    /// a socket that lingers, but for no file system's server.
    ///
    /// - Returns: `nil` when the other end is gone.
    /// - Throws: EMSGSIZE for a message over `largestMessage` bytes.
    public func receiveText() throws(SystemError) -> String? {
        var bytes = [UInt8](repeating: 0, count: PacketSocket.largestMessage)
        let length = try received { flags in
            unsafe recv(file.descriptor, &bytes, bytes.count, Int32(MSG_TRUNC) | flags)
        }
        guard length <= bytes.count else { throw SystemError("receive from a socket", errno: EMSGSIZE) }
        return length == 0 ? nil : String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    /// Whether the other end has gone and left no message; waits for either.
    public var isAbandoned: Bool {
        get throws(SystemError) {
            var byte: UInt8 = 0
            return try received { unsafe recv(file.descriptor, &byte, 1, Int32(MSG_PEEK) | $0) } == 0
        }
    }

    /// What a call that receives, with the flags it is given, returned.
    ///
    /// If the other end left without having read all, Linux says ECONNRESET once, ahead of the messages that the other end
    /// had sent. The next call receives these. Nor is its end an end for sure: a call that waits looks for a message first, then
    /// whether the other end is gone, and misses one that was sent in between. Both may happen, so only a third end counts.
    /// A message of no bytes looks the same and counts as an end: who sends one is waited for no longer.
    ///
    /// - Parameter isMessage: Whether something came without a byte.
    private func received<Length: SignedInteger>(isMessage: () -> Bool = { false }, _ call: (Int32) -> Length)
        throws(SystemError) -> Length
    {
        var flags: Int32 = 0
        for attempt in 0..<3 {
            do throws(SystemError) {
                let length = try SystemError.check("receive from a socket") { call(flags) }
                if length != 0 || isMessage() || attempt == 2 { return length }
                flags = Int32(MSG_DONTWAIT)
            } catch {
                if flags != 0, error.errno == EAGAIN { return 0 }
                guard error.errno == ECONNRESET, attempt < 2 else { throw error }
            }
        }
        return 0
    }
}
