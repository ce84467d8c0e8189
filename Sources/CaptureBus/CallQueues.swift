/// What calls cost that are not answered yet, in bytes of memory; generous, since a running call is a task with whatever its
/// handler makes of the arguments.
enum CallCost {
    /// A call without arguments.
    static let call = 4 << 10
    /// Each value of its arguments, containers included.
    static let value = 192
    /// Each byte of text in them.
    static let text = 2

    static func of(_ size: MessageReader.Limits) -> Int { call + value * size.values + text * size.text }
}

/// How much calls that are not answered yet may cost.
struct CallLimits: Sendable {
    /// All calls of one user, over all of their connections.
    var user = 8 << 20
    /// All calls of connections whose user the bus has not named yet. It names them within one round trip; more connections
    /// than fit in here are never open at the same time (dbus-daemon allows 2048).
    var unknown = 16 << 20
    /// All calls of all users, but root's and the daemon's own.
    var all = 32 << 20
}

/// The calls that wait and run: of each sender one after the other, of each user up to a budget.
///
/// A budget that is full costs nobody a call but its own user, and of that user's connections the one with the most calls:
/// the newest of these gives way. Root and the daemon's own user have a budget each that no other user takes part in.
struct CallQueues<Call> {
    /// A call that is not answered yet.
    struct Ticket {
        let token: UInt64
        let sender: String
        let cost: Int
        let call: Call
    }

    private struct Queue {
        /// `nil` until the bus has named it.
        var user: UInt32?
        /// The running call that the next one waits for.
        var turn: UInt64?
        var waiting: [Ticket] = []
        /// What running calls cost, by their numbers.
        var running: [UInt64: Int] = [:]
        var cost = 0
    }

    /// What the calls of a user cost, and of how many connections they are.
    private struct Load {
        var cost = 0
        var senders = 0
    }

    private let limits: CallLimits
    /// Whose calls do not count among all.
    private let reserved: Set<UInt32>
    private var queues: [String: Queue] = [:]
    /// By user; `nil` are all that are not known.
    private var loads: [UInt32?: Load] = [:]
    private var total = 0

    init(_ limits: CallLimits = CallLimits(), reserved: Set<UInt32>) {
        self.limits = limits
        self.reserved = reserved
    }

    /// Whether no call of a sender waits or has the turn.
    func isIdle(_ sender: String) -> Bool {
        queues[sender].map { $0.turn == nil && $0.waiting.isEmpty } ?? true
    }

    /// Whether a sender has calls that are not answered, and its user is not known.
    func isUnknown(_ sender: String) -> Bool { queues[sender].map { $0.user == nil } ?? false }

    /// Whether a sender's next call would be refused, told without a look at it or at others: a flood of calls is to cost less
    /// than it costs the bus to bring them.
    func isFull(for sender: String, _ cost: Int = CallCost.call) -> Bool {
        guard let queue = queues[sender], !queue.waiting.isEmpty, let load = loads[queue.user] else { return false }
        let limit = queue.user == nil ? limits.unknown : limits.user
        return load.cost + cost > limit && queue.cost * load.senders >= load.cost
    }

    /// Takes in a call.
    ///
    /// - Parameter user: The sender's; `nil` while that is not known.
    /// - Returns: The calls that have to go for it, which may be the call itself.
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

    /// Notes whose a sender's calls are.
    ///
    /// - Returns: The calls that have to go, since that user has too many.
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

    /// Takes out the calls of a sender that have not begun: it is gone.
    mutating func abandon(_ sender: String) -> [Ticket] {
        var dropped: [Ticket] = []
        while let last = dropLast(of: sender) { dropped.append(last) }
        forgetIfDone(sender)
        return dropped
    }

    /// The sender's next call, which has the turn from now on; `nil` when no call waits or another has the turn.
    mutating func begin(_ sender: String) -> Ticket? {
        guard var queue = queues[sender], queue.turn == nil, let next = queue.waiting.first else { return nil }
        queue.waiting.removeFirst()
        queue.turn = next.token
        queue.running[next.token] = next.cost
        queues[sender] = queue
        return next
    }

    /// Lets the sender's next call begin though this one is not answered.
    mutating func endTurn(_ sender: String, _ token: UInt64) {
        if queues[sender]?.turn == token { queues[sender]?.turn = nil }
    }

    /// A running call was answered.
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

    /// Takes a sender out of its user's load.
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

    /// Whose newest call has to go, since a budget is exceeded that a sender's call counts in; `nil` for nobody's.
    private func victim(for user: UInt32?, _ sender: String) -> String? {
        let limit = user == nil ? limits.unknown : limits.user
        if let load = loads[user], load.cost > limit { return heaviest(of: user, sender) }
        guard let user, !reserved.contains(user), total > limits.all else { return nil }
        let most = loads.filter { $0.key.map { !reserved.contains($0) } ?? false }.max { $0.value.cost < $1.value.cost }
        guard let most else { return nil }
        return heaviest(of: most.key, sender) ?? heaviest(of: user, sender)
    }

    /// The sender of a user's with the most that has not begun.
    private func heaviest(of user: UInt32?, _ sender: String) -> String? {
        // Most often it is the one that calls, which is told without a look at the others.
        if let own = queues[sender], own.user == user, let load = loads[user], !own.waiting.isEmpty,
            own.cost * load.senders >= load.cost
        {
            return sender
        }
        let mayLose = queues.filter { $0.value.user == user && !$0.value.waiting.isEmpty }
        return mayLose.max { $0.value.cost < $1.value.cost }?.key
    }
}
