import ArgumentParser
import CaptureKit

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a session and wait until its files are finished."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
    var id: UInt32?

    @Flag(name: .shortAndLong, help: "Stop all your sessions.")
    var all = false

    func validate() throws {
        if all == (id != nil) { throw ValidationError("give either a session's number or --all") }
    }

    func run() async throws {
        let daemon = try await bus.connect()
        var ids = id.map { [$0] } ?? []
        if all { ids = try await daemon.sessions().filter { !$0.status.state.isFinal }.map(\.id) }
        var failure: CaptureError?
        for id in ids {
            do throws(CaptureError) {
                let session = try await CaptureSession.session(id, on: daemon)
                let before = await session.status
                if before.state.isFinal {
                    throw CaptureError(.noSuchSession, "session \(id) is already over: it is \(before.state.rawValue)")
                }
                try await session.stopRunning()
                if let fault = await session.results.compactMap(\.error).first { throw fault }
                Output.note("session \(id) stopped")
            } catch {
                // The others are stopped all the same; the first fault is the command's.
                if all { Output.message("session \(id): \(Printable.text(error.message, limit: 1000))") }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
