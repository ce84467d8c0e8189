import CaptureCore
import CaptureSystem
import Glibc

/// The daemon's side of a process that holds what one program passed. Thread-safe.
///
/// Requests are answered one after the other. A process that does not answer in time is ended: it blocks on what the
/// program passed.
final class PassingDoor: Sendable {
    /// Milliseconds for an answer, which takes less than one unless a file system hangs.
    private static let patience: Int32 = 10_000

    private let process: DoorProcess
    private let turns = Slots(1)

    init(_ process: DoorProcess) {
        self.process = process
    }

    /// The descriptor of a ticket, as an output or an import takes it.
    ///
    /// - Throws: `.invalidArgument` when nothing was passed with this ticket; `.timedOut`, `.inputOutput`.
    func file(_ ticket: UInt32) async throws(CaptureError) -> PassedFile {
        switch try await ask(.look(ticket: ticket)) {
        case .file(let facts): return PassedFile(self, ticket, facts)
        case let answer: throw PassingDoor.failure(answer, .invalidArgument)
        }
    }

    /// Has a descriptor sent over a socket, before others.
    func hand(
        _ ticket: UInt32,
        _ text: String,
        over socket: PacketSocket,
        with others: [Descriptor]
    ) async throws(CaptureError) {
        let answer = try await ask(.hand(ticket: ticket, text: text), [socket.file] + others)
        guard answer == .handed else { throw PassingDoor.failure(answer, .inputOutput) }
    }

    /// What a regular file is now; `nil` for anything else.
    func mark(_ ticket: UInt32) async throws(CaptureError) -> FileMark? {
        switch try await ask(.mark(ticket: ticket)) {
        case .mark(let mark): return mark
        case .unmarked: return nil
        case let answer: throw PassingDoor.failure(answer, .inputOutput)
        }
    }

    /// Whether the program has its end of the connection: it has sent something, or what it sent holds up the process.
    var isTaken: Bool {
        get async {
            do throws(CaptureError) {
                return try await ask(.use) != .unused
            } catch {
                return true
            }
        }
    }

    /// Lets go of a descriptor. Returns at once.
    func drop(_ ticket: UInt32) {
        do throws(SystemError) {
            try process.socket.offer(DoorRequest.drop(ticket: ticket).text)
        } catch {
            // It does not read what it is told, or is gone; either way nothing is held when it has ended.
            process.kill()
        }
    }

    /// Ends the process, and with it what it holds.
    func end() { process.kill() }

    private func ask(_ request: DoorRequest, _ files: [Descriptor] = []) async throws(CaptureError) -> DoorAnswer {
        guard await turns.take() else {
            throw CaptureError(.dismissed, "the call was cancelled before what was passed was looked at")
        }
        defer { turns.give() }
        let process = process
        return try await WorkerThread.run("door-ask") {
            Result { () throws(CaptureError) in try PassingDoor.answer(of: process, to: request, files) }
        }
    }

    private static func answer(
        of process: DoorProcess,
        to request: DoorRequest,
        _ files: [Descriptor]
    ) throws(CaptureError) -> DoorAnswer {
        let text: String?
        do throws(SystemError) {
            try process.socket.offer(request.text, with: files)
            guard try !Poll.wait(process.socket.file.descriptor, timeout: patience).isEmpty else {
                throw SystemError("look at what was passed", errno: ETIMEDOUT)
            }
            text = try process.socket.receiveText()
        } catch {
            process.kill()
            throw CaptureError(error.errno == ETIMEDOUT ? .timedOut : .inputOutput, "what was passed is lost", error)
        }
        guard let text else {
            throw CaptureError(.inputOutput, "what was passed is lost: the process that held it has ended")
        }
        do throws(CaptureError) {
            return try DoorAnswer(text: text)
        } catch {
            process.kill()
            throw error
        }
    }

    private static func failure(_ answer: DoorAnswer, _ code: CaptureError.Code) -> CaptureError {
        guard case .failed(let errno, let reason) = answer else {
            return CaptureError(.internalFault, "a door answered another question")
        }
        return CaptureError(code, reason, errno: errno)
    }
}

/// A descriptor that a program passed and that no process of the daemon's but a door holds. It is let go of with the last
/// reference.
final class PassedFile: OpenFile, JobFile {
    /// What is known of it.
    let facts: PassedFileFacts
    private let door: PassingDoor
    private let ticket: UInt32

    fileprivate init(_ door: PassingDoor, _ ticket: UInt32, _ facts: PassedFileFacts) {
        self.door = door
        self.ticket = ticket
        self.facts = facts
    }

    var identity: FileIdentity? { facts.identity }

    /// Has it sent over a socket, before others.
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError) {
        try await door.hand(ticket, text, over: socket, with: others)
    }

    /// What it is now if it is a regular file; else `nil`.
    func mark() async throws(CaptureError) -> FileMark? {
        try await door.mark(ticket)
    }

    deinit {
        door.drop(ticket)
    }
}

extension CaptureError {
    /// What failed, with the system call behind it.
    fileprivate init(_ code: Code, _ what: String, _ error: SystemError) {
        self.init(code, "\(what): \(error)", errno: error.errno)
    }
}
