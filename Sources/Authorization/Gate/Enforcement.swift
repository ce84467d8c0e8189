import CaptureCore
import Synchronization

/// Stops what rests on grants, such as sessions and uses of the media library.
///
/// Thread-safe. The gate waits for it, and it may call the gate meanwhile.
public protocol GrantEnforcer: AnyObject, Sendable {
    /// Stops everything that rests on a withdrawn grant or on a consent that is gone. When it returns, nothing is
    /// delivered on them any more.
    ///
    /// The gate may call this again while a call is still running, and also when nothing was withdrawn. It must not
    /// wait for a method of the gate that waits for enforcers.
    ///
    /// - Returns: Remaining work that needs no consent, such as finishing files.
    func enforceWithdrawals() async -> [Task<Void, Never>]
}

/// The enforcers of a gate. Thread-safe; holds them weakly, because they hold the gate.
final class Enforcers: Sendable {
    private struct Member {
        weak var enforcer: (any GrantEnforcer)?
    }

    private let members = Mutex<[Member]>([])
    private let isBeginning = Atomic<Bool>(false)

    func add(_ enforcer: any GrantEnforcer) {
        members.withLock { members in
            members.removeAll { $0.enforcer == nil }
            members.append(Member(enforcer: enforcer))
        }
    }

    /// Starts to enforce everything that was withdrawn before the call, and does not wait. So enforcement goes on while
    /// the gate writes to the disk.
    func begin() {
        guard !isBeginning.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task {
            isBeginning.store(false, ordering: .releasing)
            _ = await enforce()
        }
    }

    /// Enforces everything that was withdrawn before the call; returns when nothing is delivered any more.
    ///
    /// - Returns: Remaining work that needs no consent.
    func enforce() async -> [Task<Void, Never>] {
        let present = members.withLock { $0.compactMap(\.enforcer) }
        return await withTaskGroup { group in
            for enforcer in present { group.addTask { await enforcer.enforceWithdrawals() } }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension AuthorizationGate {
    /// Adds an enforcer, which is held weakly. From now on, a withdrawal waits for this enforcer, too.
    public nonisolated func enforced(by enforcer: any GrantEnforcer) {
        enforcers.add(enforcer)
    }

    /// Waits until nothing is delivered on grants that were withdrawn before the call. Meanwhile the gate takes other
    /// calls, also from its enforcers, so check its state again afterwards.
    ///
    /// - Parameter awaitingFiles: Whether to wait also until the files that end by this are finished.
    func enforce(awaitingFiles: Bool = false) async {
        // In a task of its own, so that it goes on when the caller is cancelled.
        await Task { [enforcers] in
            let rest = await enforcers.enforce()
            guard awaitingFiles else { return }
            for task in rest { await task.value }
        }.value
    }
}
