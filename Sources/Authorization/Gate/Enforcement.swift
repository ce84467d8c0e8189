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
            _ = await stop()
        }
    }

    /// Waits until nothing is delivered on grants that were withdrawn before the call. Meanwhile the gate takes other
    /// calls, also from its enforcers, so check its state again afterwards.
    ///
    /// - Parameter awaitingFiles: Whether to wait also until the files that end by this are finished.
    nonisolated(nonsending) func enforce(awaitingFiles: Bool = false) async {
        // In a task of its own, so that it goes on when the caller is cancelled.
        await Task {
            let rest = await stop()
            guard awaitingFiles else { return }
            for task in rest { await task.value }
        }.value
    }

    /// Stops what rests on grants that were withdrawn before the call.
    ///
    /// - Returns: Remaining work that needs no consent.
    private func stop() async -> [Task<Void, Never>] {
        let present = members.withLock { $0.compactMap(\.enforcer) }
        return await withTaskGroup { group in
            for enforcer in present { group.addTask { await enforcer.enforceWithdrawals() } }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}
