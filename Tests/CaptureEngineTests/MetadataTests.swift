import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A movie with metadata` {
    private let bench = EngineBench()
    private let client = EngineBench.client()

    private func running(hasMetadata: Bool = true) async throws -> UInt32 {
        var description = EngineBench.movie()
        description.outputs[0].hasMetadata = hasMetadata
        return try await bench.running(description)
    }

    private func refusal(_ items: [TimedMetadata], in id: UInt32, by client: SessionClient) async -> CaptureError.Code?
    {
        await #expect(throws: CaptureError.self) {
            try await bench.engine.append(items, id, output: "movie", client: client)
        }?.code
    }

    private var noted: [String] { bench.recorders.recorder("movie")?.switches ?? [] }

    @Test func `hands it to its recorder in order`() async throws {
        let id = try await running()
        let items = try [TimedMetadata(json: "{\"a\":1}"), TimedMetadata(json: "{}")]
        try await bench.engine.append(items, id, output: "movie", client: client)
        #expect(noted == ["note {\"a\":1}", "note {}"])
    }

    @Test func `takes it of the program that made the session`() async throws {
        let id = try await running()
        let items = try [TimedMetadata(json: "{}")]
        #expect(await refusal(items, in: id, by: EngineBench.client(":1.2", program: "other")) == .notPermitted)
        #expect(await refusal(items, in: id, by: EngineBench.client(":1.3", user: 1001)) == .noSuchSession)
        #expect(noted == [])
    }

    @Test func `takes a thousand in a second, and none of a call that is too much`() async throws {
        let id = try await running()
        let item = try TimedMetadata(json: "{}")
        let begun = ContinuousClock.now
        var taken = 0
        // A busy machine may need seconds for it, and each has its thousand.
        while taken < 3000 {
            do throws(CaptureError) {
                try await bench.engine.append(Array(repeating: item, count: 60), id, output: "movie", client: client)
                taken += 60
            } catch {
                #expect(error.code == .overQuota && taken >= 960)
                break
            }
        }
        // The first second began before the test's.
        #expect(taken <= 1000 * (2 + Int(begun.duration(to: .now) / .seconds(1))))
        #expect(noted.count == taken)
        #expect(await refusal(Array(repeating: item, count: 65), in: id, by: client) == .invalidArgument)
    }

    @Test func `is refused while the movie is paused, but for what tells of a time`() async throws {
        let id = try await running()
        var counters = OutputStatistics()
        counters.isPaused = true
        bench.recorders.recorder("movie")?.report(.progress(counters))
        while try await bench.engine.statistics(of: id, client: client).outputs["movie"]?.isPaused != true {
            await Task.yield()
        }
        #expect(await refusal([try TimedMetadata(json: "{}")], in: id, by: client) == .wrongState)
        let before = try TimedMetadata(json: "{}", at: Timestamp(nanoseconds: 5))
        try await bench.engine.append([before], id, output: "movie", client: client)
        #expect(noted == ["note {}"])
    }

    @Test func `is one that was described so`() async throws {
        let id = try await running(hasMetadata: false)
        #expect(await refusal([try TimedMetadata(json: "{}")], in: id, by: client) == .invalidArgument)
        var sound = EngineBench.movie()
        sound.outputs[0].kind = .sound
        sound.outputs[0].format = "wav"
        sound.outputs[0].hasMetadata = true
        #expect(throws: CaptureError.self) { try sound.outputs[0].checkMetadata() }
    }

    @Test(arguments: [
        "", "1", "{\"a\":1}\n", "{\"a\":\"\u{202e}\"}", "[]", "{" + String(repeating: " ", count: 4095) + "}",
    ])
    func `takes no text but an object on a line`(text: String) {
        #expect(throws: CaptureError.self) { try TimedMetadata(json: text) }
    }

    @Test func `takes no time far ahead`() throws {
        let now = Timestamp(nanoseconds: 5_000_000_000)
        try TimedMetadata(json: "{}", at: now.advanced(by: 1_000_000_000)).check(at: now)
        try TimedMetadata(json: "{}", at: Timestamp(nanoseconds: .min)).check(at: now)
        #expect(throws: CaptureError.self) {
            try TimedMetadata(json: "{}", at: now.advanced(by: 1_000_000_001)).check(at: now)
        }
        #expect(throws: CaptureError.self) {
            try TimedMetadata(json: "{}", at: Timestamp(nanoseconds: .max)).check(at: now)
        }
    }
}
