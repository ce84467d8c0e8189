public import CaptureCore
import Synchronization

/// Keeps the history: who used what, when and for how long, and every decision.
///
/// A use is on disk before its first sample flows; without a history nothing starts. Decisions follow as they are made,
/// and what cannot be written at once is written as soon as possible. Its turns wait for the disk, so its executor runs
/// them on a thread of its own.
public actor HistoryKeeper {
    private let executor: any SerialExecutor
    /// The executor that runs its turns.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private let store: HistoryStore
    private let complain: @Sendable (String) -> Void
    private let watch: @Sendable (UseEvent) -> Void
    private let now: @Sendable () -> AnswerTime
    private var limits: HistoryLimits
    private var open: [DeviceUseKey: (use: DeviceUse, began: AnswerTime)] = [:]
    private var unwritten: [UseEnd] = []
    private var beating: Task<Void, Never>?
    private var isFailing = false
    private var added = 0
    private var lastRotation: AnswerTime?
    private nonisolated let inbox = Mutex<[HistoryEntry]>([])

    /// How often a daemon that has something open notes that it lives.
    static let beat: Duration = .seconds(10)

    /// A keeper of a store.
    ///
    /// - Parameters:
    ///   - executor: Runs its turns, which may wait for the disk.
    ///   - complain: Told when the history cannot be written, once until it can be again.
    ///   - watch: Told of uses as they begin and end, in order; must not block.
    public init(
        _ store: HistoryStore,
        executor: any SerialExecutor,
        limits: HistoryLimits,
        now: @escaping @Sendable () -> AnswerTime = { .now },
        complain: @escaping @Sendable (String) -> Void = { _ in },
        watch: @escaping @Sendable (UseEvent) -> Void = { _ in }
    ) {
        self.executor = executor
        self.store = store
        self.limits = limits
        self.now = now
        self.complain = complain
        self.watch = watch
    }

    /// Changes how much is kept; what is too much goes at once.
    public func setLimits(_ limits: HistoryLimits) {
        self.limits = limits
        rotate()
    }

    /// Refuses when nothing could be recorded, before anybody is asked in vain.
    ///
    /// - Throws: `inputOutput`.
    public func check() throws(CaptureError) {
        store.look()
        if case .unusable(let why) = store.state { throw HistoryKeeper.refusal(why) }
    }

    /// Records that uses begin; they are on disk when it returns.
    ///
    /// - Throws: `inputOutput` when they cannot be recorded: then nothing may be captured.
    public func begin(_ uses: [DeviceUse]) throws(CaptureError) -> [DeviceUseKey] {
        write()
        let keys: [DeviceUseKey]
        do throws(CaptureError) {
            keys = try store.begin(uses)
        } catch {
            failed(error)
            throw HistoryKeeper.refusal(error.message)
        }
        let began = now()
        for (key, use) in zip(keys, uses) { open[key] = (use, began) }
        watch(.began(zip(keys, uses).map { (key: $0, use: $1) }, began.wall))
        count(keys.count)
        keepBeating()
        return keys
    }

    /// Records that uses have ended.
    public func end(_ keys: [DeviceUseKey], as outcome: UseOutcome, _ message: String = "") {
        let time = now()
        watch(.ended(keys, time.wall))
        for key in keys {
            guard let (use, began) = open.removeValue(forKey: key) else { continue }
            let text = DisplayText.neutralized(message, limit: 500)
            unwritten.append(
                UseEnd(key: key, use: use, began: began, time: time, outcome: outcome, message: text)
            )
        }
        write()
    }

    /// Takes a decision in; returns at once.
    public nonisolated func note(_ decision: Decision) {
        guard let entry = HistoryEntry(decision, at: now()) else { return }
        let isFirst = inbox.withLock { waiting in
            defer { waiting.countOrAppend(entry) }
            return waiting.isEmpty
        }
        if isFirst { Task { await self.write() } }
    }

    /// Takes in that somebody turned a switch, which stands above all answers; returns at once.
    public nonisolated func note(switch service: Service, isOn: Bool, by client: ClientIdentity) {
        let message = "\(service.title) was switched \(isOn ? "on" : "off") for every program"
        note(message, .settings, of: service, isOn ? .notDetermined : .restricted, client, SettingsAuthor(client))
    }

    /// Takes in that somebody changed a device's profile, which decides about no program; returns at once.
    public nonisolated func note(profile message: String, of service: Service, by client: ClientIdentity) {
        note(message, .settings, of: service, .notDetermined, client, SettingsAuthor(client))
    }

    /// Takes in that a program connected itself to what another one captures; returns at once.
    public nonisolated func note(stranger client: ClientIdentity, to service: Service, _ message: String) {
        note(message, .connectedItself, of: service, .notDetermined, client)
    }

    private nonisolated func note(
        _ message: String,
        _ cause: Decision.Cause,
        of service: Service,
        _ status: AuthorizationStatus,
        _ client: ClientIdentity,
        _ author: SettingsAuthor? = nil
    ) {
        note(
            Decision(
                program: client.program,
                tier: client.tier,
                user: client.user,
                pid: client.pid,
                identity: client.detail,
                service: service,
                status: status,
                cause: cause,
                message: message,
                author: author
            )
        )
    }

    /// A page of entries, the latest first, with everything that happened until now.
    ///
    /// - Parameter program: Whose uses of the media library are shown; `nil` for those of every program.
    public func page(_ filter: HistoryFilter, libraryOf program: String? = nil) throws(CaptureError) -> [HistoryEntry] {
        write()
        return try store.page(filter, libraryOf: program)
    }

    /// Writes what waits, for a daemon that ends.
    public func finish() {
        write()
        beating?.cancel()
    }

    /// Writes the decisions and ends that wait; what cannot be written waits on.
    private func write() {
        let entries = inbox.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        do throws(CaptureError) {
            if !entries.isEmpty { try store.append(entries) }
        } catch {
            // Before those that came meanwhile.
            inbox.withLock { waiting in
                let later = waiting
                waiting = entries
                for entry in later { waiting.countOrAppend(entry) }
            }
            return failed(error)
        }
        count(entries.count)
        do throws(CaptureError) {
            if !unwritten.isEmpty { try store.end(unwritten) }
        } catch {
            return failed(error)
        }
        unwritten = []
        isFailing = false
    }

    private func failed(_ error: CaptureError) {
        if !isFailing { complain("nothing can be recorded in the history: \(error.message)") }
        isFailing = true
        keepBeating()
    }

    /// As long as something is open or waits to be written.
    private func keepBeating() {
        guard beating == nil else { return }
        beating = Task { [weak self] in
            while (try? await Task.sleep(for: HistoryKeeper.beat)) != nil {
                guard await self?.pulse() == true else { return }
            }
        }
    }

    private func pulse() -> Bool {
        write()
        let isWaiting = inbox.withLock { !$0.isEmpty } || !unwritten.isEmpty
        if open.isEmpty, !isWaiting {
            beating = nil
            return false
        }
        do throws(CaptureError) { try store.beat() } catch { failed(error) }
        return true
    }

    private func count(_ entries: Int) {
        if entries == 0 { return }
        added += entries
        if added >= max(1, min(1000, limits.count / 20)) { return rotate() }
        guard let lastRotation else { return rotate() }
        if lastRotation.elapsed(at: now()) >= 3_600_000 { rotate() }
    }

    private func rotate() {
        do throws(CaptureError) {
            try store.rotate(limits, now: now())
            added = 0
            lastRotation = now()
        } catch {
            failed(error)
        }
    }

    private static func refusal(_ why: String) -> CaptureError {
        CaptureError(.inputOutput, "cannot record the use in the history, so it does not begin: \(why)")
    }
}

extension [HistoryEntry] {
    /// Appends an entry, or counts it in one that waits and is its like, so that nobody fills the memory by asking.
    fileprivate mutating func countOrAppend(_ entry: HistoryEntry) {
        guard entry.isRepeatable, let index = firstIndex(where: { $0.repetition == entry.repetition }) else {
            return append(entry)
        }
        self[index].times += entry.times
        self[index].ended = entry.ended
    }
}
