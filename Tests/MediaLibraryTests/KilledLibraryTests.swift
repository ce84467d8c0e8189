@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

/// A daemon that is killed while it imports, records, edits, deletes and empties the bin, on this machine's own disk.
@Suite struct `A library whose writer is killed` {
    private static let kills = 200

    @Test(.timeLimit(.minutes(60)))
    func `has what was acknowledged, whole, and files and index agree, 200 times`() async throws {
        let place = try TemporaryLibrary()
        let account = place.folder + "/account"
        let path = place.path
        var model = LibraryModel()
        var count = Tally()
        var next = 1
        for kill in 1...Self.kills {
            #expect(FileManager.default.createFile(atPath: account, contents: nil))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, account = account as String, next = next as Int] in
                try LibraryWriter(path: path, account: account).writeUntilKilled(from: next)
            }
            let told = try LibraryWriter.read(account)
            count.acknowledged += told.acknowledged.count
            for step in told.acknowledged { model.apply(step) }
            let pending = told.asked.dropFirst(told.acknowledged.count)
            #expect(pending.count <= 1, "kill \(kill): the writer did one at a time")
            next += told.asked.count + 1
            if !place.files("transit").isEmpty { count.unfinished += 1 }

            let library = try place.library()
            let found = try LibraryModel(of: library)
            if let step = pending.first, found != model, found == model.applying(step) {
                // It was on disk, and the kill came before it could be said.
                model.apply(step)
                count.unsaid += 1
            }
            #expect(found == model, "kill \(kill): \(pending)")
            for recording in try library.recordings.kept() {
                count.kept += 1
                let text = text(of: try library.recordings.open(recording.id))
                guard case .record(_, let whole) = pending.first else {
                    Issue.record("kill \(kill): a recording was kept that was not under way")
                    continue
                }
                #expect(LibraryModel.text(of: whole).hasPrefix(text), "kill \(kill)")
                try library.recordings.discardKept(recording.id)
            }
            #expect(try library.check() == [], "kill \(kill): \(pending)")
            #expect(place.files("transit").isEmpty, "kill \(kill)")
            #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM doubtful") } == 0)
            if found != model { break }
            place.close()
        }
        // Else it was not while writing that they were killed.
        #expect(count.acknowledged >= Self.kills / 2, "\(count)")
        #expect(count.unfinished > 0, "\(count)")
    }

    private struct Tally {
        var acknowledged = 0
        var unsaid = 0
        var unfinished = 0
        var kept = 0
    }
}

/// Works in a library step by step, and accounts for each before and after.
private struct LibraryWriter {
    let path: String
    let account: Int32

    init(path: String, account: String) throws {
        self.path = path
        // What was written is there when the writer is gone: only the machine's end would take it.
        self.account = unsafe open(account, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard self.account >= 0 else { throw POSIXError(.EIO) }
    }

    func writeUntilKilled(from first: Int) throws {
        let library = try LibraryStore(directory: path)
        var model = try LibraryModel(of: library)
        // By steps and their length, not by the clock: on a busy machine none ends in the time that many take on an idle one.
        let last = first + Int.random(in: 0...2)
        var longest = Duration.milliseconds(30)
        for number in first... {
            let step = model.anyStep(number)
            if number == last { Self.kill(within: longest) }
            let began = ContinuousClock.now
            defer { longest = max(longest, .now - began) }
            try tell("asked", step)
            try library.perform(step)
            try tell("acknowledged", step)
            model.apply(step)
        }
    }

    private static func kill(within longest: Duration) {
        let moment = UInt32.random(in: 0..<UInt32(longest / .microseconds(1)))
        Thread.detachNewThread {
            usleep(moment)
            Glibc.kill(getpid(), SIGKILL)
        }
    }

    private func tell(_ what: String, _ step: LibraryStep) throws {
        let line = Array("\(what) ".utf8) + Array(try JSONEncoder().encode(step)) + [10]
        guard unsafe write(account, line, line.count) == line.count else { throw POSIXError(.EIO) }
    }

    static func read(_ account: String) throws -> (asked: [LibraryStep], acknowledged: [LibraryStep]) {
        let lines = try String(contentsOfFile: account, encoding: .utf8).split(separator: "\n")
        func steps(_ what: String) throws -> [LibraryStep] {
            try lines.filter { $0.hasPrefix(what + " ") }.map { line in
                try JSONDecoder().decode(LibraryStep.self, from: Data(line.dropFirst(what.count + 1).utf8))
            }
        }
        return (try steps("asked"), try steps("acknowledged"))
    }
}
