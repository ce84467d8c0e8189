import ArgumentParser
import CaptureKit
import Synchronization

struct MetadataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Print the metadata of a camera's frames, a line of JSON for each.",
        discussion: """
            'devices --json' shows which cameras have metadata. A line has the time in nanoseconds of CLOCK_MONOTONIC, the \
            number of the frame, the driver's format and the bytes in hexadecimal; of a USB camera also the clocks in them. \
            The camera streams meanwhile, and other programs can use it at the same time.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var chosen: CameraOptions

    @Option(
        name: [.customShort("n"), .long],
        parsing: .unconditional,
        help: ArgumentHelp("End after this many lines.", valueName: "lines")
    )
    var count: Int?

    func run() async throws {
        try NumberOptions.check(count, "--count", 1...Int.max)
        let camera = try chosen.input()
        let (endings, end) = AsyncStream<Void>.makeStream()
        let ending = Task { for await _ in endings { return } }
        let printed = Atomic(0)
        let lost = Atomic<UInt64>(0)
        let most = count ?? .max
        let output = CameraMetadataOutput(name: "metadata") { event in
            switch event {
            case .data(let metadata):
                guard printed.load(ordering: .relaxed) < most else { return }
                let isRead = Output.print(MetadataPresentation.json(metadata).line)
                let number = printed.add(1, ordering: .relaxed).newValue
                if !isRead || number >= most { end.yield() }
            case .dropped(let number, _): lost.add(number, ordering: .relaxed)
            case .ended: end.yield()
            }
        }
        let daemon = try await bus.connect()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(camera)
        try await session.addInput(.metadata(of: camera))
        try await session.addOutput(output)
        let run = SessionRun(session: session, output: output.name, closing: ending)
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        output.stop()
        let missed = lost.load(ordering: .relaxed)
        if missed > 0 { Output.message("\(missed) lines are missing: they were lost on the way here") }
        if let error = outcome.error { throw error }
        // A session that was told to end before it was read is no failure.
        if let error = output.failure, error.code != .wrongState { throw error }
    }
}
