import CLinux
import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc

/// Serves the control socket. Each caller gets a process of its own, which accepts only this one connection. So
/// whatever a caller sends there blocks nobody else.
///
/// Root has a socket of its own, which others cannot block. Each user may have a few connections at a time. One more
/// ends the oldest, so that an attacking program cannot lock out the user whose account it runs in.
actor ControlDesk {
    /// The most callers of a user that are served at a time.
    static let mostOfUser = 4
    /// The most killed processes of a user that have not ended yet, because a file system may hold on to them.
    static let mostEndingOfUser = 32
    /// How many processes wait for callers at each socket.
    private static let idle = 2
    /// Milliseconds that a caller which has connected may say nothing before another process takes its place.
    private static let moment: Int32 = 20
    /// How long the daemon works on one request and its answers.
    private static let patience = Duration.seconds(120)

    /// Carries out a caller's request. The last answer ends the exchange.
    typealias Handler = @Sendable (ControlRequest, ControlCaller) async -> [ControlAnswer]

    private enum Line {
        case idle
        /// `turn` rises in the order of the callers; the waiting processes have no order.
        case serving(DoorProcess, user: UInt32, turn: UInt64)
        case ending(user: UInt32)
    }

    private let program: String
    private let handler: Handler
    private var listening: [Descriptor] = []
    private var lines: [UInt64: Line] = [:]
    private var last: UInt64 = 0

    /// - Parameter program: The path of `captured-door`.
    init(program: String, handler: @escaping Handler) {
        self.program = program
        self.handler = handler
    }

    /// Makes the sockets in a directory and waits for callers.
    ///
    /// - Throws: `.inputOutput` if they cannot be made.
    func open(in directory: String) async throws(CaptureError) {
        for (name, mode) in [("control", mode_t(0o666)), ("control-root", mode_t(0o600))] {
            let path = directory + "/" + name
            do throws(SystemError) {
                // Left by a daemon that was killed. No other daemon lives, because this one owns the name on the bus.
                if unsafe unlink(path) != 0, errno != ENOENT { throw SystemError("remove \(path)", errno: errno) }
                listening.append(
                    Descriptor(
                        owning: try SystemError.check("listen at \(path)") {
                            unsafe clinux_seqpacket_listen(path, mode)
                        }
                    )
                )
            } catch {
                throw CaptureError(.inputOutput, error)
            }
        }
        for place in listening.indices {
            for _ in 0..<ControlDesk.idle { await wait(at: place) }
        }
    }

    /// Starts one more process to wait for a caller, now or as soon as possible.
    private func wait(at place: Int, isRetry: Bool = false) async {
        last += 1
        let id = last
        do throws(CaptureError) {
            let process = try await DoorProcess.start(program, .control, input: listening[place]) { [weak self] in
                Task { await self?.ended(id) }
            }
            if process.isAlive { lines[id] = .idle }
            Task { await serve(process, id, at: place) }
        } catch {
            if !isRetry {
                let text = "cannot start captured-door for the control socket; trying again every second: \(error)"
                Journal.send(text, priority: .error)
            }
            waitLater(at: place)
        }
    }

    /// Starts a process after a second. Without the delay, a program that always fails would be started without end.
    private func waitLater(at place: Int) {
        Task { [weak self] in
            try await Task.sleep(for: .seconds(1))
            await self?.wait(at: place, isRetry: true)
        }
    }

    private func ended(_ id: UInt64) { lines[id] = nil }

    /// Serves the callers that a process accepts, until one of them says something and has been served. Another process takes
    /// its place as soon as it is busy.
    private func serve(_ process: DoorProcess, _ id: UInt64, at place: Int) async {
        defer { process.kill() }
        while true {
            guard let report = await ControlDesk.receive(process) else { return waitLater(at: place) }
            guard case .caller(let caller) = report, admit(caller, process, id) else {
                return await wait(at: place)
            }
            var said: ControlReport?
            switch await ControlDesk.begin(process) {
            case .reported(.left)?:
                lines[id] = lines[id].map { _ in .idle }
                continue
            case .reported(let report)?:
                await wait(at: place)
                said = report
            case .silent?:
                await wait(at: place)
                said = await ControlDesk.receive(process)
            case nil: return await wait(at: place)
            }
            while case .said(let text)? = said {
                let limit = Task {
                    try await Task.sleep(for: ControlDesk.patience)
                    process.kill()
                }
                await answer(text, of: caller, by: process)
                limit.cancel()
                said = await ControlDesk.receive(process)
            }
            return
        }
    }

    /// Makes room for a caller among the callers of its user.
    private func admit(_ caller: ControlCaller, _ process: DoorProcess, _ id: UInt64) -> Bool {
        // The process has ended meanwhile.
        guard lines[id] != nil else { return false }
        var serving: [(id: UInt64, process: DoorProcess, turn: UInt64)] = []
        var ending = 0
        for (id, line) in lines {
            switch line {
            case .serving(let process, caller.user, let turn): serving.append((id, process, turn))
            case .ending(caller.user): ending += 1
            default: break
            }
        }
        guard ending < ControlDesk.mostEndingOfUser else {
            lines[id] = .ending(user: caller.user)
            return false
        }
        last += 1
        lines[id] = .serving(process, user: caller.user, turn: last)
        for old in serving.sorted(by: { $0.turn < $1.turn }).dropLast(ControlDesk.mostOfUser - 1) {
            lines[old.id] = .ending(user: caller.user)
            old.process.kill()
        }
        return true
    }

    private func answer(_ text: String, of caller: ControlCaller, by process: DoorProcess) async {
        var answers: [ControlAnswer]
        do throws(CaptureError) {
            answers = await handler(try ControlRequest(text: text), caller)
        } catch {
            answers = [.failed(error)]
        }
        let texts = answers.map(\.text)
        do throws(CaptureError) {
            // If the caller does not read, the time limit kills the process, and this thread ends with it.
            try await WorkerThread.run("control") { () throws(CaptureError) in
                for text in texts { try CaptureError.wrap(.unreachable, try process.socket.send(text)) }
            }
        } catch {
            process.kill()
        }
    }

    private enum Beginning: Sendable {
        case reported(ControlReport)
        case silent
    }

    /// Has a process take in what its caller sends, which usually is there already.
    ///
    /// - Returns: What it says in the first moment; `nil` at its end.
    private static func begin(_ process: DoorProcess) async -> Beginning? {
        try? await WorkerThread.run("control") { () -> Beginning? in
            do throws(SystemError) {
                try process.socket.offer("serve\n")
                guard try !Poll.wait(process.socket.file.descriptor, timeout: moment).isEmpty else { return .silent }
                guard let text = try process.socket.receiveText() else { return nil }
                return (try? ControlReport(text: text)).map { .reported($0) }
            } catch {
                // It has ended.
                return nil
            }
        }
    }

    /// The next report of a process; `nil` when it has ended, and for what is no report.
    private static func receive(_ process: DoorProcess) async -> ControlReport? {
        try? await WorkerThread.run("control") {
            (try? process.socket.receiveText()).flatMap { try? ControlReport(text: $0) }
        }
    }
}
