import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// Holds the descriptors that one program passes, until the daemon has them sent to where they are used.
///
/// The program sends one descriptor with each message and gets its ticket. Then it may leave: the door keeps the
/// descriptor until the daemon drops it. Thread-bound. Any call may block on a hostile descriptor, which blocks only
/// that program.
struct PassingDoor {
    /// The most descriptors that one program may have here at a time.
    private static let most = 16

    private let client: PacketSocket
    private let daemon: PacketSocket
    private var held: [UInt32: Descriptor] = [:]
    /// The tickets that the daemon has taken. Each can be taken once.
    private var taken: Set<UInt32> = []
    private var last: UInt32 = 0
    private var isUsed = false

    init(client: PacketSocket, daemon: PacketSocket) {
        self.client = client
        self.daemon = daemon
    }

    /// Serves until the daemon leaves, or until the program has left and the door holds nothing.
    ///
    /// - Throws: If the connection to the daemon fails.
    mutating func run() throws(SystemError) {
        var isClientThere = true
        while isClientThere || !held.isEmpty {
            // poll(2) ignores negative numbers.
            let program = isClientThere ? client.file.descriptor : -1
            let ready = try Poll.wait(program, daemon.file.descriptor)
            if !ready.1.isEmpty {
                guard let message = try daemon.receive() else { return }
                try answer(message.text, message.files)
            } else {
                isClientThere = take()
            }
        }
    }

    /// Takes a descriptor from the program.
    ///
    /// - Returns: Whether the program is still there.
    private mutating func take() -> Bool {
        do throws(SystemError) {
            guard let message = try client.receive() else { return false }
            isUsed = true
            guard message.files.count == 1 else {
                try client.send("refused: send one descriptor with each message; this one had \(message.files.count)")
                return true
            }
            guard held.count < PassingDoor.most, last < .max else {
                try client.send("refused: this door holds \(PassingDoor.most) descriptors already; open another")
                return true
            }
            last += 1
            held[last] = message.files[0]
            try client.send("\(last)")
            return true
        } catch {
            isUsed = true
            return error.errno == EMSGSIZE
        }
    }

    private mutating func answer(_ text: String, _ files: [Descriptor]) throws(SystemError) {
        let request: DoorRequest
        do throws(CaptureError) {
            request = try DoorRequest(text: text)
        } catch {
            return try daemon.send(DoorAnswer.failed(errno: EINVAL, reason: error.message).text)
        }
        switch request {
        case .look(let ticket): try daemon.send(look(ticket).text)
        case .mark(let ticket): try daemon.send(mark(ticket).text)
        case .use: try daemon.send((isUsed ? DoorAnswer.used : .unused).text)
        case .hand(let ticket, let text): try daemon.send(hand(held[ticket], text, files).text)
        case .drop(let ticket):
            taken.remove(ticket)
            held[ticket] = nil
        }
    }

    private static let unknown = DoorAnswer.failed(errno: ENOENT, reason: "no descriptor has that ticket")

    private static func failed(_ action: String) -> DoorAnswer {
        .failed(errno: errno, reason: "\(action): \(SystemError.text(of: errno))")
    }

    private mutating func look(_ ticket: UInt32) -> DoorAnswer {
        guard let file = held[ticket] else { return PassingDoor.unknown }
        guard taken.insert(ticket).inserted else {
            return .failed(errno: EBUSY, reason: "the descriptor of that ticket is in use already; pass it once more")
        }
        let flags = clinux_fcntl_getfl(file.descriptor)
        guard flags >= 0 else { return PassingDoor.failed("look at the passed descriptor") }
        let isWritable = flags & O_ACCMODE != O_RDONLY && clinux_is_path_alone(file.descriptor) == 0
        return .file(PassedFileFacts(isWritable: isWritable, identity: file.identity))
    }

    private func mark(_ ticket: UInt32) -> DoorAnswer {
        guard let file = held[ticket] else { return PassingDoor.unknown }
        return PassingDoor.mark(of: file)
    }

    private static func mark(of file: Descriptor) -> DoorAnswer {
        var (size, changed) = (Int64(0), Int64(0))
        switch unsafe clinux_look_at_file(file.descriptor, &size, &changed) {
        case 1: return .mark(FileMark(size: size, changed: changed))
        case 0: return .unmarked
        default: return PassingDoor.failed("look at the passed descriptor")
        }
    }

    /// Sends a descriptor, together with others, over the socket that is the first of the others.
    private func hand(_ file: Descriptor?, _ text: String, _ others: [Descriptor]) -> DoorAnswer {
        guard let file else { return PassingDoor.unknown }
        guard let target = others.first else {
            return .failed(errno: EINVAL, reason: "the request has no socket to send the descriptor over")
        }
        do throws(SystemError) {
            try PacketSocket(target).send(text, with: [file] + others.dropFirst())
            return .handed
        } catch {
            return .failed(errno: error.errno, reason: error.description)
        }
    }
}
