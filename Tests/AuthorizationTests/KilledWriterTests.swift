@testable import Authorization
import CaptureCore
import Foundation
import Testing

/// A daemon that is killed while it writes, on this machine's own disk.
@Suite struct `A store whose writer is killed` {
    private static let kills = 200

    @Test(.timeLimit(.minutes(60)))
    func `has every answer that was acknowledged, whole, and none that was not given, 200 times`() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let account = folder.path + "/account"
        let state = folder.path + "/state"
        var holds: [Int: Int] = [:]
        var count = Tally()
        var first = 1
        for kill in 1...Self.kills {
            #expect(FileManager.default.createFile(atPath: account, contents: nil))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [state = state as String, account = account as String, first = first as Int] in
                try AnswerWriter(state: state, account: account).writeUntilKilled(from: first)
            }
            let told = try AnswerWriter.read(account)
            count.acknowledged += told.acknowledged.count
            // The journal of a write that was cut off is still there.
            let journal = state + "/" + AuthorizationStore.fileName + "-journal"
            if let size = try? FileManager.default.attributesOfItem(atPath: journal)[.size] as? Int, size > 0 {
                count.unfinished += 1
            }

            let store = AuthorizationStore(directory: state)
            #expect(store.state == .usable, "kill \(kill)")
            let found = try AnswerWriter.numbers(in: store)
            for answer in told.acknowledged { holds[AnswerWriter.program(of: answer)] = answer }
            let pending = told.asked.filter { !told.acknowledged.contains($0) }
            #expect(pending.count <= 1, "kill \(kill): the writer wrote one at a time")
            if let last = pending.first, found[AnswerWriter.program(of: last)] == last {
                // It was on disk, and the kill came before it could be said.
                holds[AnswerWriter.program(of: last)] = last
                count.unsaid += 1
            }
            #expect(found == holds, "kill \(kill): acknowledged \(told.acknowledged), asked \(told.asked)")
            first = (told.asked.last ?? first) + 1
            if found != holds { break }
        }
        // Else it was not while writing that they were killed.
        #expect(count.acknowledged >= Self.kills / 4, "\(count)")
        #expect(count.unfinished > 0, "\(count)")
    }

    private struct Tally {
        var acknowledged = 0
        var unsaid = 0
        var unfinished = 0
    }
}

/// Writes answers one after the other, and accounts for each before and after. Answer N is about a program of its
/// remainder, so that most of them replace others, and can be told by its time.
private struct AnswerWriter {
    private static let programs = 24

    let state: String
    let account: Int32

    init(state: String, account: String) throws {
        self.state = state
        // What was written is there when the writer is gone: only the machine's end would take it.
        self.account = unsafe open(account, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard self.account >= 0 else { throw POSIXError(.EIO) }
    }

    static func program(of number: Int) -> Int { number % programs }

    func writeUntilKilled(from first: Int) throws {
        let store = AuthorizationStore(directory: state)
        // From the first answer on, which has to mend what the one before has left, or from the second.
        let begin = first + Int.random(in: 0...1)
        for number in first... {
            if number == begin { Self.killAtSomeMoment() }
            try tell("asked", number)
            try store.put(Self.answers(number))
            try tell("acknowledged", number)
        }
    }

    private static func killAtSomeMoment() {
        let moment = UInt32.random(in: 0..<40_000)
        Thread.detachNewThread {
            usleep(moment)
            kill(getpid(), SIGKILL)
        }
    }

    /// Both rows of one question: kept together or not at all.
    private static func answers(_ number: Int) -> [StoredAnswer] {
        [Service.camera, .microphone].map { service in
            StoredAnswer(
                user: 1000,
                program: "exe:/usr/bin/program-\(program(of: number))",
                service: service,
                tier: .claimed,
                status: number.isMultiple(of: 3) ? .denied : .authorized,
                reason: .answer,
                time: AnswerTime(wall: Int64(number), sinceBoot: 1, boot: "b"),
                // Long enough that a transaction touches several pages.
                detail: String(repeating: "the session \(number) ", count: 60)
            )
        }
    }

    private func tell(_ what: String, _ number: Int) throws {
        let line = Array("\(what) \(number)\n".utf8)
        guard unsafe write(account, line, line.count) == line.count else { throw POSIXError(.EIO) }
    }

    static func read(_ account: String) throws -> (asked: [Int], acknowledged: [Int]) {
        let words = try String(contentsOfFile: account, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        func numbers(_ what: String) -> [Int] { words.filter { $0[0] == what }.compactMap { Int($0[1]) } }
        return (numbers("asked"), numbers("acknowledged"))
    }

    /// By program, the answer that the store has; throws where a row is not exactly what was put in.
    static func numbers(in store: AuthorizationStore) throws -> [Int: Int] {
        let rows = try store.allAnswers()
        var found: [Int: Int] = [:]
        for row in rows {
            let number = Int(row.time.wall)
            try #require(answers(number).contains(row))
            try #require(found.updateValue(number, forKey: program(of: number)) ?? number == number)
        }
        try #require(rows.count == 2 * found.count)
        return found
    }
}
