import CaptureCore
import CaptureSystem
import Glibc

/// The daemon's side of the process that holds one program's descriptors. Thread-safe.
///
/// Requests are answered one after the other. A process that does not answer in time blocks on a descriptor of the
/// program, and the daemon kills it.
final class PassingDoor: Sendable {
    /// Milliseconds to wait for an answer. That takes less than one unless a file system hangs.
    private static let patience: Int32 = 10_000

    private let process: DoorProcess
    private let turns = Slots(1)

    init(_ process: DoorProcess) {
        self.process = process
    }

    /// Takes the descriptor of a ticket for an output or an import.
    ///
    /// - Throws: `.invalidArgument` if no descriptor has this ticket; `.timedOut`, `.inputOutput`.
    func file(_ ticket: UInt32) async throws(CaptureError) -> PassedFile {
        switch try await ask(.look(ticket: ticket)) {
        case .file(let facts): return PassedFile(self, ticket, facts)
        case let answer: throw PassingDoor.failure(answer, .invalidArgument)
        }
    }

    /// Sends a descriptor over a socket, followed by others.
    func hand(
        _ ticket: UInt32,
        _ text: String,
        over socket: PacketSocket,
        with others: [Descriptor]
    ) async throws(CaptureError) {
        let answer = try await ask(.hand(ticket: ticket, text: text), [socket.file] + others)
        guard answer == .handed else { throw PassingDoor.failure(answer, .inputOutput) }
    }

    /// The current state of a regular file; `nil` for anything else.
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

    /// Drops a descriptor. Returns at once.
    func drop(_ ticket: UInt32) {
        do throws(SystemError) {
            try process.socket.offer(DoorRequest.drop(ticket: ticket).text)
        } catch {
            // It does not read, or is gone. Once it has ended, it holds nothing.
            process.kill()
        }
    }

    /// Kills the process, which closes what it holds.
    func end() { process.kill() }

    private func ask(_ request: DoorRequest, _ files: [Descriptor] = []) async throws(CaptureError) -> DoorAnswer {
        guard await turns.take() else {
            throw CaptureError(.dismissed, "the call was cancelled before its descriptor was looked at")
        }
        defer { turns.give() }
        let process = process
        return try await WorkerThread.run("door-ask") { () throws(CaptureError) in
            try PassingDoor.answer(of: process, to: request, files)
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
                throw SystemError("look at the passed descriptor", errno: ETIMEDOUT)
            }
            text = try process.socket.receiveText()
        } catch {
            process.kill()
            let code: CaptureError.Code = error.errno == ETIMEDOUT ? .timedOut : .inputOutput
            throw CaptureError(code, "a passed descriptor is lost", error)
        }
        guard let text else {
            throw CaptureError(.inputOutput, "a passed descriptor is lost: the process that held it has ended")
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
            return CaptureError(.internalFault, "captured-door answered another request")
        }
        return CaptureError(code, reason, errno: errno)
    }
}

/// A descriptor that a program passed. Only the door holds it, and drops it with the last reference to this object.
final class PassedFile: OpenFile, JobFile {
    /// What is known about it.
    let facts: PassedFileFacts
    private let door: PassingDoor
    private let ticket: UInt32

    fileprivate init(_ door: PassingDoor, _ ticket: UInt32, _ facts: PassedFileFacts) {
        self.door = door
        self.ticket = ticket
        self.facts = facts
    }

    var identity: FileIdentity? { facts.identity }

    /// Sends it over a socket, followed by others.
    func hand(_ text: String, over socket: PacketSocket, with others: [Descriptor]) async throws(CaptureError) {
        try await door.hand(ticket, text, over: socket, with: others)
    }

    /// Its current state if it is a regular file; otherwise `nil`.
    func mark() async throws(CaptureError) -> FileMark? {
        try await door.mark(ticket)
    }

    deinit {
        door.drop(ticket)
    }
}

extension CaptureError {
    /// Says what failed, and in which system call.
    fileprivate init(_ code: Code, _ what: String, _ error: SystemError) {
        self.init(code, "\(what): \(error)", errno: error.errno)
    }
}
