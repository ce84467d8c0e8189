import Authorization
import CaptureEngine

/// When persons are asked what programs may read that are limited: by the answer that limits them, and once in each of
/// their runs.
actor LibraryOffers {
    /// A process, whatever connections it has.
    private struct Run: Hashable {
        var pid: Int32
        var startTime: UInt64

        init(_ client: ClientIdentity) {
            pid = client.pid
            startTime = client.parts.startTime
        }
    }

    /// More than run at one time, so that what is remembered stays small.
    private static let mostRuns = 4096

    private var runs: Set<Run> = []
    /// The same in their order.
    private var order: [Run] = []
    private var standing: [String: Task<Void, Never>] = [:]

    private struct Program: Hashable {
        var user: UInt32
        var id: String
    }

    /// Who waits for the first choice for a program.
    private var waiting: [Program: [UInt64: CheckedContinuation<Void, Never>]] = [:]
    private var last: UInt64 = 0

    /// Notes that the person was asked in a program's run.
    ///
    /// - Returns: Whether that is for the first time.
    @discardableResult
    func note(_ client: ClientIdentity) -> Bool {
        guard runs.insert(Run(client)).inserted else { return false }
        order.append(Run(client))
        if order.count > Self.mostRuns { runs.remove(order.removeFirst()) }
        return true
    }

    /// Puts an offer, unless the program's run has had its one; returns at once.
    func begin(for client: SessionClient, _ offer: @escaping @Sendable () async -> Void) {
        guard note(client.identity) else { return }
        let connection = client.connection
        standing[connection] = Task {
            await offer()
            self.ended(connection)
        }
    }

    /// Has a person who was just asked choose for the first time; who comes while that lasts waits for its end, unless its
    /// task is cancelled.
    func choose(for client: ClientIdentity, _ choice: @Sendable () async -> Void) async {
        let program = Program(user: client.answerUser, id: client.program)
        if waiting[program] != nil { return await wait(for: program) }
        waiting[program] = [:]
        await choice()
        for waiter in (waiting.removeValue(forKey: program) ?? [:]).values { waiter.resume() }
    }

    private func wait(for program: Program) async {
        last += 1
        let number = last
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // It was cancelled before there was anything to give up.
                if Task.isCancelled { return continuation.resume() }
                waiting[program]?[number] = continuation
            }
        } onCancel: {
            Task { await self.giveUp(number, program) }
        }
    }

    private func giveUp(_ number: UInt64, _ program: Program) {
        waiting[program]?.removeValue(forKey: number)?.resume()
    }

    /// The program asks for something itself: its offer is taken back, so that the person has one question before them.
    func giveWay(to connection: String) async {
        guard let offer = standing.removeValue(forKey: connection) else { return }
        offer.cancel()
        await offer.value
    }

    /// The caller left: its offer is taken back.
    func clientGone(_ connection: String) {
        standing.removeValue(forKey: connection)?.cancel()
    }

    private func ended(_ connection: String) {
        standing[connection] = nil
    }
}
