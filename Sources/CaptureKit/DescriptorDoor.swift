import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc

/// Passes descriptors to the daemon over a socket. An expendable process of the daemon holds the other end. In messages
/// on the bus, tickets stand for the descriptors, because a descriptor in a message can hang the program that closes
/// it.
///
/// Thread-safe. Each ticket is good for one call. Keep the door until that call returns.
struct DescriptorDoor: Sendable {
    /// Milliseconds to wait until a descriptor is taken. That takes less than one unless its file system hangs.
    private static let patience: Int32 = 10_000

    private let socket: PacketSocket
    private let number: UInt32

    /// Asks the daemon for a door.
    init(of connection: BusConnection, startsService: Bool) async throws(CaptureError) {
        let answer = try await connection.call(
            CaptureNames.service,
            CaptureNames.root,
            CaptureNames.manager,
            "OpenDoor",
            timeout: CaptureDaemon.timeout,
            startsService: startsService
        )
        guard answer.count == 2, let file = answer[0].file,
            let number = answer[1].integer(as: UInt32.self)
        else { throw CaptureDaemon.malformed("OpenDoor") }
        socket = PacketSocket(file)
        self.number = number
    }

    /// Passes each descriptor in a value and returns the value with tickets in their places.
    func passing(_ value: BusValue) async throws(CaptureError) -> BusValue {
        switch value {
        case .descriptor(let file): return .string(try await ticket(for: file))
        case .dictionary("sh", let entries):
            var passed: [BusEntry] = []
            for entry in entries { passed.append(BusEntry(entry.key, try await passing(entry.value))) }
            return .dictionary("ss", passed)
        default: return value
        }
    }

    private func ticket(for file: Descriptor) async throws(CaptureError) -> String {
        let (socket, number) = (socket, number)
        return try await WorkerThread.run("pass") { () throws(CaptureError) in
            let answer: String
            do throws(SystemError) {
                try socket.send("file", with: [file])
                guard try !Poll.wait(socket.file.descriptor, timeout: DescriptorDoor.patience).isEmpty else {
                    throw SystemError("pass a descriptor to the daemon", errno: ETIMEDOUT)
                }
                guard let text = try socket.receive()?.text else {
                    throw SystemError("pass a descriptor to the daemon", errno: EPIPE)
                }
                answer = text
            } catch {
                throw CaptureError(error.errno == ETIMEDOUT ? .timedOut : .unreachable, error)
            }
            guard UInt32(answer) != nil else { throw CaptureError(.invalidArgument, answer) }
            return "\(number).\(answer)"
        }
    }
}

extension BusValue {
    /// Turns an empty table of descriptors into an empty table of tickets.
    var withTickets: BusValue {
        if case .dictionary("sh", let entries) = self, entries.isEmpty { .dictionary("ss", []) } else { self }
    }

    /// Whether the value contains a descriptor, as an argument of a method may.
    var passesDescriptor: Bool {
        switch self {
        case .descriptor: true
        case .dictionary(_, let entries): entries.contains { $0.value.passesDescriptor }
        default: false
        }
    }
}
