import CaptureCore
import Synchronization

/// Stops what rests on grants: sessions, uses of the media library.
///
/// Thread-safe. The gate waits for it, and may be called by it meanwhile.
public protocol GrantEnforcer: AnyObject, Sendable {
    /// Stops everything that rests on a grant which no longer holds, or on a consent that is gone. Nothing is delivered on
    /// them when this returns.
    ///
    /// Called again while a call is under way, and also when nothing was withdrawn. It must not wait for a method of the gate
    /// that waits for enforcers.
    ///
    /// - Returns: What is left to do and needs no consent, such as finishing files.
    func enforceWithdrawals() async -> [Task<Void, Never>]
}

/// The enforcers of a gate. Thread-safe; holds them weakly, since they have the gate.
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

    /// Has everything enforced that was withdrawn before the call, and does not wait: what was withdrawn is stopped while the
    /// gate writes to the disk.
    func begin() {
        guard !isBeginning.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task {
            isBeginning.store(false, ordering: .releasing)
            _ = await enforce()
        }
    }

    /// Has everything enforced that was withdrawn before the call; returns when nothing is delivered any more.
    ///
    /// - Returns: What is left to do and needs no consent.
    func enforce() async -> [Task<Void, Never>] {
        let present = members.withLock { $0.compactMap(\.enforcer) }
        return await withTaskGroup { group in
            for enforcer in present { group.addTask { await enforcer.enforceWithdrawals() } }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension AuthorizationGate {
    /// From now on a withdrawal is over only when this one has enforced it, too. It is held weakly.
    public nonisolated func enforced(by enforcer: any GrantEnforcer) {
        enforcers.add(enforcer)
    }

    /// Waits until nothing is delivered on grants that were withdrawn before the call. The gate takes other calls meanwhile,
    /// those of its enforcers among them; what was looked at before does not hold afterwards.
    ///
    /// - Parameter awaitingFiles: Whether to wait, too, until the files of what ends by it are finished.
    func enforce(awaitingFiles: Bool = false) async {
        // Goes on when the caller is cancelled.
        await Task { [enforcers] in
            let rest = await enforcers.enforce()
            guard awaitingFiles else { return }
            for task in rest { await task.value }
        }.value
    }
}
