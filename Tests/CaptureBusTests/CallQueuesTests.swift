import Testing

@testable import CaptureBus

/// The budgets of calls, with small numbers: 10 of a user, 20 of all, 30 of connections that nobody knows.
final class CallQueuesTests {
    private typealias Queues = CallQueues<String>
    private var queues = Queues(CallLimits(user: 10, unknown: 30, all: 20), reserved: [0])
    private var last: UInt64 = 0

    /// Adds calls, begins what may begin, and tells which were refused.
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
        // One that calls less takes the place of one that calls more.
        #expect(add(1, from: ":1.3", of: 1000) == [":1.1 6"])
    }

    @Test func `a full budget refuses no other user's call`() {
        #expect(add(20, from: ":1.1", of: 1000).count == 10)
        #expect(add(10, from: ":1.2", of: 1001).isEmpty)
        // All of them together are at the end: the heaviest gives way.
        #expect(add(1, from: ":1.3", of: 1002) != [":1.3 31"])
        #expect(add(10, from: ":1.4", of: 0).isEmpty)
    }

    @Test func `connections that are not known share a budget fairly`() {
        #expect(add(40, from: ":1.1", of: nil).count == 10)
        #expect(add(1, from: ":1.2", of: nil) == [":1.1 30"])
        // Once the first is known, its user's budget counts, and the rest has its room again.
        #expect(queues.identify(":1.1", as: 1000).count == 19)
        #expect(add(29, from: ":1.2", of: nil).isEmpty)
    }

    @Test func `a sender without room is told without a look at its call`() {
        #expect(add(9, from: ":1.1", of: 1000).isEmpty)
        #expect(!queues.isFull(for: ":1.1", 1))
        #expect(add(1, from: ":1.2", of: 1000).isEmpty)
        #expect(queues.isFull(for: ":1.1", 1))
        // Who has less of the budget is looked at.
        #expect(!queues.isFull(for: ":1.2", 1))
        #expect(!queues.isFull(for: ":1.3", 1))
    }

    @Test func `a call is weighed by its arguments`() {
        #expect(add(2, from: ":1.1", of: 1000, cost: 5).isEmpty)
        #expect(add(1, from: ":1.1", of: 1000, cost: 1) == [":1.1 3"])
    }

    @Test func `calls of a sender begin one after the other, or when a turn ends`() {
        #expect(add(3, from: ":1.1", of: 1000).isEmpty)
        #expect(queues.begin(":1.1") == nil)
        queues.endTurn(":1.1", 1)
        #expect(queues.begin(":1.1")?.call == ":1.1 2")
        // The first one is not answered, and has no turn to give.
        queues.end(":1.1", 1)
        #expect(queues.begin(":1.1") == nil)
        queues.end(":1.1", 2)
        #expect(queues.begin(":1.1")?.call == ":1.1 3")
        #expect(!queues.isIdle(":1.1"))
        queues.end(":1.1", 3)
        #expect(queues.isIdle(":1.1"))
    }

    @Test func `what is answered makes room, and what is abandoned, too`() {
        #expect(add(10, from: ":1.1", of: 1000).isEmpty)
        queues.end(":1.1", 1)
        #expect(add(1, from: ":1.1", of: 1000).isEmpty)
        #expect(queues.abandon(":1.1").count == 9)
        #expect(add(9, from: ":1.2", of: 1000).isEmpty)
        #expect(add(1, from: ":1.2", of: 1000).count == 1)
    }
}
