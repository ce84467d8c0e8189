public import CaptureBus
public import CaptureCore
import CaptureSystem
import Glibc

/// The daemon's control socket. Use it to withdraw consent, switch devices off and list sessions while the bus hangs.
///
/// Thread-safe. Loosening consent takes a password, which polkit asks for over the bus. So over this socket only root
/// may loosen.
public struct ControlSocket: Sendable {
    /// Milliseconds to wait for an answer. A request that ends sessions waits for their files; a list waits for nothing.
    private static func patience(for request: ControlRequest) -> Int32 {
        if case .sessions = request { 25_000 } else { 120_000 }
    }

    private let path: String

    /// The control socket of a daemon.
    ///
    /// - Parameter path: In the daemon's runtime directory. Root has a socket of its own, so that others cannot block
    ///   it.
    public init(path: String) {
        self.path = path
    }

    /// The control socket of the daemon on a bus; `nil` if its place is unknown.
    public init?(of bus: BusKind) {
        switch bus {
        case .system: self.init(path: "/run/captured/" + (geteuid() == 0 ? "control-root" : "control"))
        case .session:
            guard let runtime = unsafe getenv("XDG_RUNTIME_DIR") else { return nil }
            self.init(path: unsafe String(cString: runtime) + "/captured/control")
        case .address: return nil
        }
    }

    /// Stores an answer, in words. As `AuthorizationPanel.set`.
    ///
    /// - Throws: `unreachable` if the daemon cannot be reached, and the daemon's errors.
    public func set(
        _ program: String,
        _ service: String,
        _ answer: String,
        user: String = ""
    ) async throws(CaptureError) {
        _ = try await ask(.set(user: user, program: program, service: service, answer: answer))
    }

    /// Forgets answers. As `AuthorizationPanel.reset`.
    ///
    /// - Returns: How many were forgotten.
    public func reset(
        program: String = "",
        service: String = "",
        user: String = ""
    ) async throws(CaptureError) -> Int {
        let answers = try await ask(.reset(user: user, program: program, service: service))
        guard case .done(let count)? = answers.last else { throw CaptureDaemon.malformed("reset") }
        return Int(count)
    }

    /// Turns a service off or on for every program.
    public func setSwitch(_ service: AuthorizationService, isOn: Bool) async throws(CaptureError) {
        _ = try await ask(.turn(service: service.rawValue, isOn: isOn))
    }

    /// Lists the sessions that this user may see, without their descriptions.
    public func sessions() async throws(CaptureError) -> [SessionSummary] {
        var sessions: [SessionSummary] = []
        for case .session(let session) in try await ask(.sessions) { sessions.append(session) }
        return sessions.sorted { $0.id < $1.id }
    }

    private func ask(_ request: ControlRequest) async throws(CaptureError) -> [ControlAnswer] {
        let path = path
        return try await WorkerThread.run("control") { () throws(CaptureError) in
            try ControlSocket.answers(to: request, at: path)
        }
    }

    private static func answers(to request: ControlRequest, at path: String) throws(CaptureError) -> [ControlAnswer] {
        var answers: [ControlAnswer] = []
        do throws(SystemError) {
            let socket = try PacketSocket.connect(to: path)
            try socket.send(request.text)
            while true {
                guard try !Poll.wait(socket.file.descriptor, timeout: patience(for: request)).isEmpty else {
                    throw SystemError("wait for the capture daemon's answer", errno: ETIMEDOUT)
                }
                guard let message = try socket.receive() else {
                    throw SystemError("wait for the capture daemon's answer", errno: ECONNRESET)
                }
                let answer: ControlAnswer
                do throws(CaptureError) {
                    answer = try ControlAnswer(text: message.text)
                } catch {
                    throw SystemError(error.message, errno: EBADMSG)
                }
                answers.append(answer)
                guard case .session = answer else { break }
            }
        } catch {
            throw CaptureError(.unreachable, "the capture daemon cannot be reached: \(error)", errno: error.errno)
        }
        if case .failed(let error)? = answers.last { throw error }
        return answers
    }
}

extension CaptureDaemon {
    /// Whether the daemon answers this program over the bus: it identifies its caller first, which other programs of the
    /// same user can hold up.
    ///
    /// - Parameters:
    ///   - bus: The bus that the daemon is on.
    ///   - seconds: How long to wait for its answer.
    public static func answers(on bus: BusKind, within seconds: Double) async -> Bool {
        let (answers, answered) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let asking = Task {
            do throws(CaptureError) {
                let daemon = try await connect(to: bus)
                _ = try await daemon.connection.call(
                    CaptureNames.service,
                    CaptureNames.root,
                    CaptureNames.authorization,
                    "WhoAmI",
                    timeout: seconds,
                    // A daemon that does not run has nothing to withdraw; the call that follows starts it.
                    startsService: false
                )
                answered.yield(true)
                await daemon.close()
            } catch {
                answered.yield(error.code != .unreachable && error.code != .busy)
            }
        }
        let waiting = Task {
            try? await Task.sleep(for: .seconds(seconds))
            answered.yield(false)
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        return await answers.first { _ in true } ?? false
    }
}
