import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem

/// The doors through which programs pass descriptors, by connection.
///
/// The daemon never gets a program's descriptor: closing a TCP socket with unsent data, or a file on a file system that
/// hangs, would block it. Instead, a program asks for a socket whose other end an expendable process holds. It sends
/// its descriptors over that socket, gets tickets for them, and names these tickets in its calls.
actor PassingDoors {
    /// The most doors of a user at a time. One more ends the oldest.
    static let mostOfUser = 16
    /// How many processes a user may have at a time, with those that still hold what was passed, or cannot end.
    static let mostProcessesOfUser = 64
    /// How many sockets may be on their way to programs of a user, and of all users but root. The bus stops reading from
    /// a connection when 64 descriptors that it sent are not yet read.
    static let mostUntakenOfUser = 8
    static let mostUntaken = 48

    private struct Entry {
        let user: UInt32
        let connection: String
        let door: PassingDoor
        var isTaken = false
    }

    private let program: String
    private var last: UInt32 = 0
    private var entries: [UInt32: Entry] = [:]
    /// Whose process each door is, until it has ended.
    private var processes: [UInt32: UInt32] = [:]
    /// The users of doors that are being made.
    private var coming: [UInt32] = []

    /// The number of open doors.
    var count: Int { entries.count }

    /// - Parameter program: The path of `captured-door`.
    init(program: String) {
        self.program = program
    }

    /// Makes a door for a connection.
    ///
    /// - Returns: The program's socket, and the number that its tickets begin with.
    /// - Throws: `.busy` when the user has too many.
    func open(for client: SessionClient) async throws(CaptureError) -> (socket: Descriptor, number: UInt32) {
        let ends: (theirs: PacketSocket, doors: PacketSocket)
        do throws(SystemError) { ends = try PacketSocket.pair() } catch { throw CaptureError(.internalFault, error) }
        let user = client.identity.user
        try await checkRoom(for: user)
        // From here on it counts: nobody else comes between.
        coming.append(user)
        defer { if let place = coming.firstIndex(of: user) { coming.remove(at: place) } }
        last += 1
        let number = last
        processes[number] = user
        let process: DoorProcess
        do throws(CaptureError) {
            process = try await DoorProcess.start(program, .pass, input: ends.doors.file) { [weak self] in
                Task { await self?.ended(number) }
            }
        } catch {
            processes[number] = nil
            throw error
        }
        guard process.isAlive else {
            processes[number] = nil
            return (ends.theirs.file, number)
        }
        // A socket that is still on its way counts, whether or not its process lives.
        let own = entries.filter { $0.value.user == user && $0.value.isTaken }.keys.sorted()
        let excess = entries.values.count { $0.user == user } - PassingDoors.mostOfUser + 1
        for old in own.prefix(max(0, excess)) { entries.removeValue(forKey: old)?.door.end() }
        entries[number] = Entry(user: user, connection: client.connection, door: PassingDoor(process))
        return (ends.theirs.file, number)
    }

    private func checkRoom(for user: UInt32) async throws(CaptureError) {
        for (number, entry) in entries where entry.user == user && !entry.isTaken {
            if await entry.door.isTaken { entries[number]?.isTaken = true }
        }
        // Below, nothing is awaited.
        guard processes.values.count(where: { $0 == user }) < PassingDoors.mostProcessesOfUser else {
            throw CaptureError(.busy, "this user already has \(PassingDoors.mostProcessesOfUser) doors")
        }
        guard user != 0 else { return }
        let untaken = (entries.values.filter { !$0.isTaken }.map(\.user) + coming).filter { $0 != 0 }
        guard untaken.count < PassingDoors.mostUntaken,
            untaken.count(where: { $0 == user }) < PassingDoors.mostUntakenOfUser
        else {
            throw CaptureError(.busy, "too many doors of this user wait for a program to use them")
        }
    }

    /// Answers `OpenDoor`.
    nonisolated func opening(for callers: CallerDirectory) -> BusHandler {
        { call throws(CaptureError) in
            let door = try await self.open(for: try await callers.client(call.sender))
            return [.descriptor(door.socket), .uint32(door.number)]
        }
    }

    /// The descriptor that a connection passed.
    ///
    /// - Parameter ticket: The door's number, a dot, and the number that the door gave the descriptor.
    /// - Throws: `.invalidArgument` if the connection passed no such descriptor.
    func file(_ ticket: String, of connection: String) async throws(CaptureError) -> PassedFile {
        let parts = ticket.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt32(parts[0]), let place = UInt32(parts[1]),
            let entry = entries[number], entry.connection == connection
        else {
            throw CaptureError(
                .invalidArgument,
                "'\(DisplayText.neutralized(ticket, limit: 80))' is not a ticket of this connection; pass the descriptor "
                    + "through the socket that OpenDoor returns"
            )
        }
        return try await entry.door.file(place)
    }

    /// Ends a connection's doors, except for descriptors that sessions still use.
    func clientGone(_ connection: String) {
        entries = entries.filter { $0.value.connection != connection }
    }

    private func ended(_ number: UInt32) {
        processes[number] = nil
        entries[number] = nil
    }
}
