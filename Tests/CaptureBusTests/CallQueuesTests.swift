import Testing

@testable import CaptureBus

/// The budgets of calls, with small numbers: 10 for a user, 20 for all, 30 for connections of unknown users.
final class CallQueuesTests {
    private typealias Queues = CallQueues<String>
    private var queues = Queues(CallLimits(user: 10, unknown: 30, all: 20), reserved: [0])
    private var last: UInt64 = 0

    /// Adds calls, begins those that may begin, and returns the refused ones.
    private func add(_ count: Int, from sender: String, of user: UInt32?, cost: Int = 1) -> [String] {
        (0..<count).flatMap { _ in
            last += 1
            let ticket = Queues.Ticket(token: last, sender: sender, cost: cost, call: "\(sender) \(last)")
            let refused = queues.add(ticket, of: user).map(\.call)
            _ = queues.begin(sender)
            return refused
        }
    }

    @Test func `a user's calls end at the budget, over all of the user's connections`() {
        #expect(add(6, from: ":1.1", of: 1000).isEmpty)
        #expect(add(4, from: ":1.2", of: 1000).isEmpty)
        #expect(add(1, from: ":1.1", of: 1000) == [":1.1 11"])
        // A sender with fewer calls takes the place of one with more.
        #expect(add(1, from: ":1.3", of: 1000) == [":1.1 6"])
    }

    @Test func `a full budget refuses no other user's call`() {
        #expect(add(20, from: ":1.1", of: 1000).count == 10)
        #expect(add(10, from: ":1.2", of: 1001).isEmpty)
        // The common budget is full, so the heaviest sender gives way.
        #expect(add(1, from: ":1.3", of: 1002) != [":1.3 31"])
        #expect(add(10, from: ":1.4", of: 0).isEmpty)
    }

    @Test func `connections of unknown users share a budget fairly`() {
        #expect(add(40, from: ":1.1", of: nil).count == 10)
        #expect(add(1, from: ":1.2", of: nil) == [":1.1 30"])
        // Once the first is known, its user's budget counts, and the other connections get their room back.
        #expect(queues.identify(":1.1", as: 1000).count == 19)
        #expect(add(29, from: ":1.2", of: nil).isEmpty)
    }

    @Test func `a sender without room is refused without a look at its call`() {
        #expect(add(9, from: ":1.1", of: 1000).isEmpty)
        #expect(!queues.isFull(for: ":1.1", 1))
        #expect(add(1, from: ":1.2", of: 1000).isEmpty)
        #expect(queues.isFull(for: ":1.1", 1))
        // A sender with a smaller share of the budget needs a closer look.
        #expect(!queues.isFull(for: ":1.2", 1))
        #expect(!queues.isFull(for: ":1.3", 1))
    }

    @Test func `a call is weighed by its arguments`() {
        #expect(add(2, from: ":1.1", of: 1000, cost: 5).isEmpty)
        #expect(add(1, from: ":1.1", of: 1000, cost: 1) == [":1.1 3"])
    }

    @Test func `a sender's next call begins when the turn of the one before ends`() {
        #expect(add(3, from: ":1.1", of: 1000).isEmpty)
        #expect(queues.begin(":1.1") == nil)
        queues.endTurn(":1.1", 1)
        #expect(queues.begin(":1.1")?.call == ":1.1 2")
        // The first call is not answered but has no turn to give up.
        queues.end(":1.1", 1)
        #expect(queues.begin(":1.1") == nil)
        queues.end(":1.1", 2)
        #expect(queues.begin(":1.1")?.call == ":1.1 3")
        #expect(!queues.isIdle(":1.1"))
        queues.end(":1.1", 3)
        #expect(queues.isIdle(":1.1"))
    }

    @Test func `answered and abandoned calls make room`() {
        #expect(add(10, from: ":1.1", of: 1000).isEmpty)
        queues.end(":1.1", 1)
        #expect(add(1, from: ":1.1", of: 1000).isEmpty)
        #expect(queues.abandon(":1.1").count == 9)
        #expect(add(9, from: ":1.2", of: 1000).isEmpty)
        #expect(add(1, from: ":1.2", of: 1000).count == 1)
    }
}
