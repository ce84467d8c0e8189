import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite struct `One writer a file` {
    private let bench = EngineBench()

    private func create(
        _ files: [String: any OpenFile],
        _ client: SessionClient = EngineBench.client()
    ) async throws(CaptureError) -> UInt32 {
        var description = EngineBench.movie()
        description.outputs = files.keys.sorted().map { OutputDescription(name: $0, kind: .movie, format: "mkv") }
        description.connections = files.keys.map { ConnectionDescription(input: "camera", output: $0) }
        return try await bench.engine.create(description, files: files, client: client)
    }

    private func refusal(_ files: [String: any OpenFile], _ client: SessionClient = EngineBench.client()) async
        -> CaptureError?
    {
        do {
            _ = try await create(files, client)
            return nil
        } catch {
            return error
        }
    }

    @Test func `two outputs of a session do not share a file`() async {
        let error = await refusal(["left": FakeFile(inode: 7), "right": FakeFile(inode: 7)])
        #expect(error?.code.exitCode == 65)
        #expect(error?.message.contains("'left' and 'right'") == true)
    }

    @Test func `a second session does not get the file of a live one, and does when that is over`() async throws {
        let id = try await create(["movie": FakeFile(inode: 7)])
        let error = await refusal(["other": FakeFile(inode: 7)])
        #expect(error?.code.exitCode == 65)
        #expect(error?.message.contains("'other'") == true)
        #expect(error?.message.contains("'movie' of session \(id)") == true)
        try await bench.engine.start(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .running)
        #expect(await refusal(["other": FakeFile(inode: 7)]) != nil)
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped)
        #expect(await refusal(["other": FakeFile(inode: 7)]) == nil)
    }

    @Test func `another user is not told whose session it is`() async throws {
        _ = try await create(["secret": FakeFile(inode: 7)])
        let error = await refusal(["other": FakeFile(inode: 7)], EngineBench.client(":1.9", user: 1001))
        #expect(error?.message.contains("another session") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func `an added output does not get the file of one that runs, and of one that is done it does`() async throws
    {
        let id = try await create(["movie": FakeFile(inode: 7), "side": FakeFile(inode: 8)])
        try await bench.engine.start(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .running)
        func add(_ name: String, _ inode: UInt64) async throws(CaptureError) {
            try await bench.engine.addOutput(
                id,
                OutputDescription(name: name, kind: .photo, format: "jpeg"),
                inputs: ["camera"],
                file: FakeFile(inode: inode),
                client: EngineBench.client()
            )
        }
        let error = await #expect(throws: CaptureError.self) { try await add("shot", 8) }
        #expect(error?.message.contains("'side' and 'shot'") == true)
        bench.recorders.recorder("side")?.stop()
        await bench.watch.waitForOutput("side")
        try await add("again", 8)
    }

    @Test func `a change that failed leaves its file free`() async throws {
        let id = try await bench.running()
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        await #expect(throws: CaptureError.self) {
            try await bench.engine.addOutput(
                id,
                OutputDescription(name: "shot", kind: .photo, format: "jpeg"),
                inputs: ["camera"],
                file: FakeFile(inode: 7),
                client: EngineBench.client()
            )
        }
        #expect(await refusal(["movie": FakeFile(inode: 7)]) == nil)
    }

    @Test func `pipes and devices are shared as anyone likes`() async throws {
        #expect(await refusal(["left": FakeFile(), "right": FakeFile()]) == nil)
    }
}
