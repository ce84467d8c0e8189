public import Authorization
import CaptureCore
import CaptureSystem

/// Gives actors in tests their own threads, as the daemon does.
enum TestThreads {
    static let aside: RunsAside = { work throws(CaptureError) in
        do throws(SystemError) {
            try WorkerThread.detached(name: "look", body: work)
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    static func make(_ name: String) -> ThreadExecutor {
        do {
            return try ThreadExecutor(name: name)
        } catch {
            fatalError("no thread for a test: \(error)")
        }
    }
}

extension AuthorizationGate {
    /// A gate with a thread of its own. By default its answers are in memory, and programs have a reason.
    public init(
        store: AuthorizationStore = .inMemory(),
        usage: any UsageDescriptions = FixedUsageDescriptions("to test"),
        prompter: any Prompter,
        root: String = "",
        policy: Policy = Policy(),
        switches: SwitchFile? = nil,
        promptTimeout: Duration = .seconds(120),
        decisions: @escaping @Sendable (Decision) -> Void = { _ in },
        now: @escaping @Sendable () -> AnswerTime = { .now }
    ) {
        self.init(
            executor: TestThreads.make("gate"),
            aside: TestThreads.aside,
            store: store,
            usage: usage,
            prompter: prompter,
            root: root,
            policy: policy,
            switches: switches,
            promptTimeout: promptTimeout,
            decisions: decisions,
            now: now
        )
    }
}

extension HistoryKeeper {
    /// A keeper with a thread of its own. By default it keeps a thousand entries in memory, for a day.
    public init(
        _ store: HistoryStore = .inMemory(),
        limits: HistoryLimits = HistoryLimits(age: 86_400_000, count: 1000),
        now: @escaping @Sendable () -> AnswerTime = { .now },
        complain: @escaping @Sendable (String) -> Void = { _ in },
        watch: @escaping @Sendable (UseEvent) -> Void = { _ in }
    ) {
        self.init(
            store,
            executor: TestThreads.make("history"),
            limits: limits,
            now: now,
            complain: complain,
            watch: watch
        )
    }
}
