/// What an unanswered call costs, in bytes of memory. The numbers are generous, because a running call is also a task
/// with whatever its handler makes of the arguments.
enum CallCost {
    /// A call without arguments.
    static let call = 4 << 10
    /// Each value of its arguments, containers included.
    static let value = 192
    /// Each byte of text in them.
    static let text = 2

    static func of(_ size: MessageReader.Limits) -> Int { call + value * size.values + text * size.text }
}

/// How much unanswered calls may cost.
struct CallLimits: Sendable {
    /// All calls of one user, over all of their connections.
    var user = 8 << 20
    /// All calls of connections whose user the bus has not named yet, which takes it one round trip. dbus-daemon allows
    /// 2048 connections at a time; more than fit in here are never open.
    var unknown = 16 << 20
    /// All calls of all users, without root's and the daemon's own.
    var all = 32 << 20
}

/// The waiting and running calls. Each sender's calls run one after the other; each user has a budget.
///
/// A full budget costs only that user calls. The newest call of the user's connection with the most calls is refused.
/// Root and the daemon's own user each have a budget that no other user shares.
struct CallQueues<Call> {
    /// An unanswered call.
    struct Ticket {
        let token: UInt64
        let sender: String
        let cost: Int
        let call: Call
    }

    private struct Queue {
        /// `nil` until the bus names it.
        var user: UInt32?
        /// The running call that holds the turn; the next one waits for it.
        var turn: UInt64?
        var waiting: [Ticket] = []
        /// The costs of the running calls, by number.
        var running: [UInt64: Int] = [:]
        var cost = 0
    }

    /// What the calls of a user cost, and how many connections they come from.
    private struct Load {
        var cost = 0
        var senders = 0
    }

    private let limits: CallLimits
    /// Users whose calls do not count in `CallLimits.all`.
    private let reserved: Set<UInt32>
    private var queues: [String: Queue] = [:]
    /// By user; `nil` for all connections whose user is unknown.
    private var loads: [UInt32?: Load] = [:]
    private var total = 0

    init(_ limits: CallLimits = CallLimits(), reserved: Set<UInt32>) {
        self.limits = limits
        self.reserved = reserved
    }

    /// Whether a sender has no waiting call and none that holds the turn.
    func isIdle(_ sender: String) -> Bool {
        queues[sender].map { $0.turn == nil && $0.waiting.isEmpty } ?? true
    }

    /// Whether a sender has unanswered calls and its user is unknown.
    func isUnknown(_ sender: String) -> Bool { queues[sender].map { $0.user == nil } ?? false }

    /// Whether a sender's next call would be refused. Decided without looking at that call or at others: refusing a
    /// flood must cost less than it costs the bus to deliver it.
    func isFull(for sender: String, _ cost: Int = CallCost.call) -> Bool {
        guard let queue = queues[sender], !queue.waiting.isEmpty, let load = loads[queue.user] else { return false }
        let limit = queue.user == nil ? limits.unknown : limits.user
        return load.cost + cost > limit && queue.cost * load.senders >= load.cost
    }

    /// Takes in a call.
    ///
    /// - Parameter user: The sender's user; `nil` if unknown.
    /// - Returns: The calls to refuse instead, which may include this one.
    mutating func add(_ ticket: Ticket, of user: UInt32?) -> [Ticket] {
        if queues[ticket.sender] == nil {
            queues[ticket.sender] = Queue(user: user)
            loads[user, default: Load()].senders += 1
        }
        let user = queues[ticket.sender]?.user
        queues[ticket.sender]?.waiting.append(ticket)
        charge(ticket.sender, ticket.cost)
        var refused: [Ticket] = []
        while let victim = victim(for: user, ticket.sender), let last = dropLast(of: victim) { refused.append(last) }
        forgetIfDone(ticket.sender)
        return refused
    }

    /// Records the user of a sender's calls.
    ///
    /// - Returns: The calls to refuse, because that user has too many.
    mutating func identify(_ sender: String, as user: UInt32) -> [Ticket] {
        guard let queue = queues[sender], queue.user == nil else { return [] }
        unload(sender)
        queues[sender]?.user = user
        loads[user, default: Load()].senders += 1
        loads[user]?.cost += queue.cost
        if !reserved.contains(user) { total += queue.cost }
        var refused: [Ticket] = []
        while let victim = victim(for: user, sender), let last = dropLast(of: victim) { refused.append(last) }
        forgetIfDone(sender)
        return refused
    }

    /// Removes a sender's calls that have not begun, because the sender is gone.
    mutating func abandon(_ sender: String) -> [Ticket] {
        var dropped: [Ticket] = []
        while let last = dropLast(of: sender) { dropped.append(last) }
        forgetIfDone(sender)
        return dropped
    }

    /// The sender's next call, which now holds the turn; `nil` if none waits or another holds the turn.
    mutating func begin(_ sender: String) -> Ticket? {
        guard var queue = queues[sender], queue.turn == nil, let next = queue.waiting.first else { return nil }
        queue.waiting.removeFirst()
        queue.turn = next.token
        queue.running[next.token] = next.cost
        queues[sender] = queue
        return next
    }

    /// Lets the sender's next call begin before this one is answered.
    mutating func endTurn(_ sender: String, _ token: UInt64) {
        if queues[sender]?.turn == token { queues[sender]?.turn = nil }
    }

    /// Removes a running call, because it was answered.
    mutating func end(_ sender: String, _ token: UInt64) {
        endTurn(sender, token)
        guard let cost = queues[sender]?.running.removeValue(forKey: token) else { return }
        charge(sender, -cost)
        forgetIfDone(sender)
    }

    private mutating func charge(_ sender: String, _ cost: Int) {
        guard let user = queues[sender]?.user else {
            queues[sender]?.cost += cost
            loads[nil as UInt32?]?.cost += cost
            return
        }
        queues[sender]?.cost += cost
        loads[user]?.cost += cost
        if !reserved.contains(user) { total += cost }
    }

    /// Removes a sender from its user's load.
    private mutating func unload(_ sender: String) {
        guard let queue = queues[sender], var load = loads[queue.user] else { return }
        load.senders -= 1
        load.cost -= queue.cost
        loads[queue.user] = load.senders == 0 ? nil : load
        if let user = queue.user, !reserved.contains(user) { total -= queue.cost }
    }

    private mutating func forgetIfDone(_ sender: String) {
        guard let queue = queues[sender], queue.waiting.isEmpty, queue.running.isEmpty else { return }
        unload(sender)
        queues[sender] = nil
    }

    private mutating func dropLast(of sender: String) -> Ticket? {
        guard let last = queues[sender]?.waiting.popLast() else { return nil }
        charge(sender, -last.cost)
        return last
    }

    /// The sender whose newest call must be refused, because a budget is exceeded that a call of `sender` counts in;
    /// `nil` if none is.
    private func victim(for user: UInt32?, _ sender: String) -> String? {
        let limit = user == nil ? limits.unknown : limits.user
        if let load = loads[user], load.cost > limit { return heaviest(of: user, sender) }
        guard let user, !reserved.contains(user), total > limits.all else { return nil }
        let most = loads.filter { $0.key.map { !reserved.contains($0) } ?? false }.max { $0.value.cost < $1.value.cost }
        guard let most else { return nil }
        return heaviest(of: most.key, sender) ?? heaviest(of: user, sender)
    }

    /// The user's sender with the most calls that have not begun.
    private func heaviest(of user: UInt32?, _ sender: String) -> String? {
        // Usually it is the caller itself, which shows without looking at the others.
        if let own = queues[sender], own.user == user, let load = loads[user], !own.waiting.isEmpty,
            own.cost * load.senders >= load.cost
        {
            return sender
        }
        let mayLose = queues.filter { $0.value.user == user && !$0.value.waiting.isEmpty }
        return mayLose.max { $0.value.cost < $1.value.cost }?.key
    }
}
